"""Operators of networks by PyTorch, and boxes by hand."""

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - its own name
from op_usual import op


def network(book):
    book.witness = "torch"
    draw = np.random.default_rng(3)

    def normal(*shape):
        return draw.standard_normal(shape).astype(np.float32)

    def t(x):
        return torch.tensor(x.astype(np.float64))

    def out(x):
        return x.numpy().astype(np.float32)

    x = normal(2, 5)
    big = np.array([[1000, 1000, -1000, 0, 3], [-88, -90, 100, 1e-3, 0]], np.float32)
    for name, given_ in (("normal", x), ("large", big)):
        op(book, f"op.nn-softmax.{name}", "LIB-701", "nn.softmax(a, axis=-1)", [given_], out(F.softmax(t(given_), -1)))
        op(
            book,
            f"op.nn-log-softmax.{name}",
            "LIB-701",
            "nn.log_softmax(a, axis=-1)",
            [given_],
            out(F.log_softmax(t(given_), -1)),
        )
    for name, form, of in (
        ("relu", "nn.relu(a)", F.relu),
        ("leakyrelu", "nn.leakyrelu(a, alpha=0.25)", lambda v: F.leaky_relu(v, 0.25)),
        ("gelu", "nn.gelu(a)", F.gelu),
        ("gelu-tanh", "nn.gelu_tanh(a)", lambda v: F.gelu(v, approximate="tanh")),
        ("silu", "nn.silu(a)", F.silu),
        ("softplus", "nn.softplus(a)", F.softplus),
        ("selu", "nn.selu(a)", F.selu),
    ):
        clause = {
            "relu": "LIB-501",
            "leakyrelu": "LIB-502",
            "gelu": "LIB-503",
            "gelu-tanh": "LIB-503",
            "silu": "LIB-504",
            "softplus": "LIB-506",
            "selu": "LIB-505",
        }[name]
        op(book, f"op.nn-{name}.torch", clause, form, [x], out(of(t(x))))
    g, b = normal(5), normal(5)
    op(
        book,
        "op.nn-layer-norm.torch",
        "LIB-702",
        "nn.layer_norm(a, b, c, axes=[-1], epsilon=1e-5)",
        [x, g, b],
        out(F.layer_norm(t(x), (5,), t(g), t(b))),
    )
    op(
        book,
        "op.nn-rms-norm.torch",
        "LIB-703",
        "nn.rms_norm(a, b, axes=[-1], epsilon=1e-5)",
        [x, g],
        out(t(x) / torch.sqrt((t(x) ** 2).mean(-1, keepdim=True) + 1e-5) * t(g)),
    )
    img, ker = normal(1, 2, 5, 5), normal(3, 2, 3, 3)
    op(book, "op.nn-conv2d.torch", "LIB-010", "nn.conv2d(a, b)", [img, ker], out(F.conv2d(t(img), t(ker))))
    op(
        book,
        "op.nn-conv2d.strided-padded-torch",
        "LIB-010",
        "nn.conv2d(a, b, strides=[2, 2], padding=[1, 1, 1, 1])",
        [img, ker],
        out(F.conv2d(t(img), t(ker), stride=2, padding=1)),
    )
    op(
        book,
        "op.nn-conv2d.dilated-torch",
        "LIB-010",
        "nn.conv2d(a, b, dilation=[2, 2])",
        [img, ker],
        out(F.conv2d(t(img), t(ker), dilation=2)),
    )
    dep = normal(2, 1, 3, 3)
    op(
        book,
        "op.nn-conv2d.groups-torch",
        "LIB-010",
        "nn.conv2d(a, b, groups=2)",
        [img, dep],
        out(F.conv2d(t(img), t(dep), groups=2)),
    )
    tr = normal(2, 3, 3, 3)
    op(
        book,
        "op.nn-conv2d-transpose.torch",
        "LIB-011",
        "nn.conv2d_transpose(a, b, strides=[2, 2])",
        [img, tr],
        out(F.conv_transpose2d(t(img), t(tr), stride=2)),
    )
    op(
        book,
        "op.nn-max-pool2d.torch",
        "LIB-020",
        "nn.max_pool2d(a, pool_size=[2, 2], strides=[2, 2])",
        [img],
        out(F.max_pool2d(t(img), 2)),
    )
    op(
        book,
        "op.nn-avg-pool2d.torch",
        "LIB-021",
        "nn.avg_pool2d(a, pool_size=[3, 3], strides=[1, 1])",
        [img],
        out(F.avg_pool2d(t(img), 3, 1)),
    )
    op(
        book,
        "op.nn-adaptive-avg-pool2d.torch",
        "LIB-022",
        "nn.adaptive_avg_pool2d(a, output_size=[2, 3])",
        [img],
        out(F.adaptive_avg_pool2d(t(img), (2, 3))),
    )
    shuffled = normal(1, 8, 2, 3)
    op(
        book,
        "op.nn-pixel-shuffle.torch",
        "LIB-031",
        "nn.pixel_shuffle(a, upscale_factor=2)",
        [shuffled],
        F.pixel_shuffle(torch.tensor(shuffled), 2).numpy(),
    )
    w = normal(4, 5)
    op(book, "op.nn-dense.torch", "LIB-891", "nn.dense(a, b)", [x, w], out(t(x) @ t(w).T))
    op(book, "op.matmul.torch", "LIB-801", "matmul(a, b)", [x, np.ascontiguousarray(w.T)], out(t(x) @ t(w).T))
    stack, other = normal(2, 1, 3, 4), normal(5, 4, 2)
    op(book, "op.matmul.broadcast", "LIB-801", "matmul(a, b)", [stack, other], out(t(stack) @ t(other)))
    op(book, "op.matmul.empty", "LIB-801", "matmul(a, b)", [normal(2, 0), normal(0, 3)], np.zeros((2, 3), np.float32))
    op(book, "op.ewise-fma.numpy", "LIB-403", "ewise_fma(a, b, c)", [x, x + 1, x - 2], x * (x + 1) + (x - 2), "numpy")
    op(book, "op.log-add-exp.torch", "LIB-404", "log_add_exp(a, b)", [x, -x], out(torch.logaddexp(t(x), t(-x))))
    op(book, "op.outer.torch", "LIB-802", "outer(a, b)", [g, b], np.outer(g, b))
    q, k, v = normal(1, 3, 2, 4), normal(1, 5, 2, 4), normal(1, 5, 2, 4)
    moved = [t(each).permute(0, 2, 1, 3) for each in (q, k, v)]
    op(
        book,
        "op.nn-attention.torch",
        "LIB-041",
        "nn.attention(a, b, c)",
        [q, k, v],
        out(F.scaled_dot_product_attention(*moved).permute(0, 2, 1, 3).contiguous()),
    )
    starts = np.array([0, 2, 3], np.int32), np.array([0, 3, 5], np.int32)
    parts_ = [
        F.scaled_dot_product_attention(moved[0][:, :, a:b], moved[1][:, :, c:d], moved[2][:, :, c:d])
        for a, b, c, d in ((0, 2, 0, 3), (2, 3, 3, 5))
    ]
    whole = torch.cat(parts_, 2).permute(0, 2, 1, 3).contiguous()
    longest = [np.array(2, np.int32), np.array(3, np.int32)]
    op(
        book,
        "op.nn-attention-var-len.torch",
        "LIB-042",
        "nn.attention_var_len(a, b, c, d, e, f, g)",
        [q, k, v, starts[0], starts[1], *longest],
        out(whole),
    )


def suppression(book):
    """Two classes, three boxes: the second overlaps the first by 0.9, the third stands apart. By hand."""
    book.witness = "hand"
    boxes = np.array([[[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3]]], np.float32)
    scores = np.array([[[0.9, 0.8, 0.7], [0.1, 0.6, 0.5]]], np.float32)
    rows = np.zeros((6, 3), np.int64)
    rows[:4] = [[0, 0, 0], [0, 0, 2], [0, 1, 1], [0, 1, 2]]
    inputs = [boxes, scores, np.array(3, np.int64), np.array(0.5, np.float32), np.array(0.3, np.float32)]
    op(
        book,
        "op.vision-all-class-nms.hand",
        "LIB-075",
        "vision.all_class_non_max_suppression(a, b, c, d, e)",
        inputs,
        [rows, np.array([4], np.int64)],
    )
