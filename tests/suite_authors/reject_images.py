"""What operators of images, attention and losses refuse: each clause of each check, with the place of the call."""

from hand import ask, reject

F = "float32"


def t(*shape, dtype=F):
    extents = "".join(f"{one!r}, ".replace("'", '"') for one in shape).strip()
    return f'R.Tensor(({extents}), "{dtype}")'


X, ROI, SIZE = t(2, 3, 4, 5), t(6, 5), "R.shape([2, 3])"
MAPS, VOL = t(2, 2, 3), t(2, 3, 3, 4, 5)
GRID = "image.grid_sample(a, b{})"
ALIGN = "vision.roi_align(a, b, pooled_size={}, spatial_scale=1.0{})"
POOL = "vision.roi_pool(a, b, pooled_size={}, spatial_scale=1.0{})"
BOX = "vision.multibox_transform_loc(a, b, c{})"
SCORES, MOVED, ANCHOR = t(2, 3, 4), t(2, 16), t(1, 4, 4)
COUNTS = "vision.get_valid_counts(a{})"

IMAGES = (
    ("grid-dtype", "RM201", GRID.format(""), t(1, 2, 3, 4, dtype="int32"), t(1, 2, 2, 2, dtype="int32")),
    ("grid-dtypes", "RM201", GRID.format(""), X, t(2, 2, 2, 2, dtype="float64")),
    ("grid-flat-image", "RM105", GRID.format(""), t(2, 4, 5), t(2, 2, 2)),
    ("grid-image", "RM105", GRID.format(""), t(2, 4, 5), t(2, 2, 2, 2)),
    ("grid-grid", "RM105", GRID.format(""), X, t(2, 2, 2)),
    ("grid-cube", "RM105", GRID.format(""), VOL, t(2, 3, 2, 2, 2)),
    ("grid-cube-of-plane", "RM105", GRID.format(', layout="NCDHW"'), X, t(2, 2, 2, 2)),
    ("grid-method", "RM105", GRID.format(', method="cubic"'), X, t(2, 2, 2, 2)),
    ("grid-mode", "RM105", GRID.format(', padding_mode="edge"'), X, t(2, 2, 2, 2)),
    ("grid-bicubic-cube", "RM105", GRID.format(', method="bicubic", layout="NCDHW"'), VOL, t(2, 3, 2, 2, 2)),
    ("grid-images", "RM202", GRID.format(""), X, t(3, 2, 2, 2)),
    ("grid-coordinates", "RM202", GRID.format(""), X, t(2, 3, 2, 2)),
    ("grid-coordinates-of-cube", "RM202", GRID.format(', layout="NCDHW"'), VOL, t(2, 2, 2, 2, 2)),
    ("grid-no-rows", "RM202", GRID.format(""), t(2, 3, 0, 5), t(2, 2, 2, 2)),
    ("grid-no-columns", "RM202", GRID.format(""), t(2, 3, 4, 0), t(2, 2, 2, 2)),
    ("affine-dtype", "RM201", f"image.affine_grid(a, {SIZE})", t(2, 2, 3, dtype="int32")),
    ("affine-rank", "RM105", f"image.affine_grid(a, {SIZE})", t(2, 3)),
    ("affine-rank-4", "RM105", f"image.affine_grid(a, {SIZE})", t(1, 2, 2, 3)),
    ("affine-size-1", "RM105", "image.affine_grid(a, R.shape([3]))", t(2, 1, 2)),
    ("affine-size-4", "RM105", "image.affine_grid(a, R.shape([2, 2, 2, 2]))", t(2, 4, 5)),
    ("affine-rows", "RM202", f"image.affine_grid(a, {SIZE})", t(2, 3, 3)),
    ("affine-columns", "RM202", f"image.affine_grid(a, {SIZE})", t(2, 2, 4)),
    ("affine-rows-3", "RM202", "image.affine_grid(a, R.shape([2, 2, 2]))", t(2, 2, 4)),
    ("affine-columns-3", "RM202", "image.affine_grid(a, R.shape([2, 2, 2]))", t(2, 3, 3)),
    ("affine-corners", "RM105", "image.affine_grid(a, R.shape([2, 1]))", MAPS),
    ("affine-corners-first", "RM105", "image.affine_grid(a, R.shape([1, 2]), align_corners=True)", MAPS),
    ("affine-nothing", "RM105", "image.affine_grid(a, R.shape([2, 0]), align_corners=False)", MAPS),
    ("resize-method", "RM105", f'image.resize2d(a, {SIZE}, method="area")', X),
    ("resize-mode", "RM105", f'image.resize2d(a, {SIZE}, coordinate_transformation_mode="corners")', X),
    ("resize-rounding", "RM105", f'image.resize2d(a, {SIZE}, method="nearest_neighbor", rounding_method="up")', X),
    ("resize-size", "RM105", "image.resize2d(a, R.shape([2, 3, 4]))", X),
    ("resize-size-3", "RM105", "image.resize3d(a, R.shape([2, 3]))", VOL),
    ("resize-roi", "RM105", f"image.resize2d(a, {SIZE}, roi=[0.0, 0.0, 1.0])", X),
    ("resize-roi-3", "RM105", "image.resize3d(a, R.shape([2, 2, 2]), roi=[0.0, 0.0, 1.0, 1.0])", VOL),
    ("resize-layout", "RM105", f'image.resize2d(a, {SIZE}, layout="NCWX")', X),
    ("resize-layout-of-cube", "RM105", f'image.resize2d(a, {SIZE}, layout="NCDHW")', X),
    ("resize-rank", "RM105", f"image.resize2d(a, {SIZE})", VOL),
    ("resize-rank-3", "RM105", "image.resize3d(a, R.shape([2, 2, 2]))", X),
    ("resize-no-rows", "RM202", f"image.resize2d(a, {SIZE})", t(1, 1, 0, 2)),
    ("resize-no-columns", "RM202", f'image.resize2d(a, {SIZE}, method="nearest_neighbor")', t(1, 1, 2, 0)),
)
BOXES = (
    *(
        row
        for word, call in (("align", ALIGN), ("pool", POOL))
        for row in (
            (
                f"roi-{word}-dtype",
                "RM201",
                call.format("[1, 1]", ""),
                t(1, 1, 2, 2, dtype="int32"),
                t(1, 5, dtype="int32"),
            ),
            (f"roi-{word}-dtypes", "RM201", call.format("[1, 1]", ""), X, t(6, 5, dtype="float16")),
            (f"roi-{word}-rank", "RM105", call.format("[1, 1]", ""), X, t(5)),
            (f"roi-{word}-rank-3", "RM105", call.format("[1, 1]", ""), X, t(6, 5, 1)),
            (f"roi-{word}-numbers", "RM202", call.format("[1, 1]", ""), X, t(6, 4)),
            (f"roi-{word}-numbers-6", "RM202", call.format("[1, 1]", ""), X, t(6, 6)),
            (f"roi-{word}-no-rows", "RM202", call.format("[1, 1]", ""), t(1, 1, 0, 2), ROI),
            (f"roi-{word}-no-columns", "RM202", call.format("[1, 1]", ""), t(1, 1, 2, 0), ROI),
            (f"roi-{word}-parts", "RM105", call.format("[1, 0]", ""), X, ROI),
            (f"roi-{word}-parts-3", "RM105", call.format("[1, 1, 1]", ""), X, ROI),
            (f"roi-{word}-layout", "RM105", call.format("[1, 1]", ', layout="NCWW"'), X, ROI),
            (f"roi-{word}-image", "RM105", call.format("[1, 1]", ""), VOL, ROI),
        )
    ),
    ("roi-align-mode", "RM105", ALIGN.format("[1, 1]", ', mode="sum"'), X, ROI),
    ("multibox-dtype", "RM201", BOX.format(""), *(t(*one, dtype="int32") for one in ((2, 3, 4), (2, 16), (1, 4, 4)))),
    ("multibox-moved-dtype", "RM201", BOX.format(""), SCORES, t(2, 16, dtype="float64"), ANCHOR),
    ("multibox-anchor-dtype", "RM201", BOX.format(""), SCORES, MOVED, t(1, 4, 4, dtype="float64")),
    ("multibox-scores-rank", "RM105", BOX.format(""), t(2, 4), MOVED, ANCHOR),
    ("multibox-moved-rank", "RM105", BOX.format(""), SCORES, t(2, 4, 4), ANCHOR),
    ("multibox-anchor-rank", "RM105", BOX.format(""), SCORES, MOVED, t(4, 4)),
    ("multibox-images", "RM202", BOX.format(""), SCORES, t(3, 16), ANCHOR),
    ("multibox-boxes", "RM202", BOX.format(""), SCORES, t(2, 12), ANCHOR),
    ("multibox-boxes-more", "RM202", BOX.format(""), SCORES, t(2, 20), ANCHOR),
    ("multibox-anchors", "RM202", BOX.format(""), SCORES, MOVED, t(1, 3, 4)),
    ("multibox-variances", "RM105", BOX.format(", variances=[1.0, 1.0, 1.0]"), SCORES, MOVED, ANCHOR),
    ("multibox-variances-5", "RM105", BOX.format(", variances=[1.0, 1.0, 1.0, 1.0, 1.0]"), SCORES, MOVED, ANCHOR),
    ("counts-rank", "RM105", COUNTS.format(""), t(4, 3)),
    ("counts-rank-4", "RM105", COUNTS.format(""), t(1, 2, 4, 3)),
    ("counts-score", "RM105", COUNTS.format(", score_index=3"), t(1, 4, 3)),
    ("counts-no-score", "RM105", COUNTS.format(", score_index=-1"), t(1, 4, 3)),
    ("counts-number", "RM105", COUNTS.format(", id_index=3"), t(1, 4, 3)),
    ("counts-short", "RM105", COUNTS.format(""), t(1, 4, 1)),
)
NORM = "nn.batch_norm(a, b, c, d, e, axis={}{})"
V = t(3)
NORMS = (
    ("norm-dtype", "RM201", NORM.format(1, ""), *(t(*one, dtype="int32") for one in ((2, 3), (3,), (3,), (3,), (3,)))),
    *(
        (
            f"norm-{kind}-{place}",
            code,
            NORM.format(1, ""),
            t(2, 3, 4),
            *(wrong if place == at else V for at in range(4)),
        )
        for place in range(4)
        for kind, code, wrong in (
            ("dtypes", "RM201", t(3, dtype="float16")),
            ("rank", "RM202", t(3, 1)),
            ("channels", "RM202", t(2)),
        )
    ),
    ("norm-axis", "RM105", NORM.format(3, ""), t(2, 3, 4), V, V, V, V),
    ("norm-axis-before", "RM105", NORM.format(-4, ""), t(2, 3, 4), V, V, V, V),
    ("norm-no-axis", "RM105", "nn.batch_norm(a, b, c, d, e)", t(2, 3, 4), V, V, V, V),
    ("norm-momentum", "RM105", NORM.format(1, ", momentum=1.125"), t(2, 3, 4), V, V, V, V),
    ("norm-momentum-below", "RM105", NORM.format(1, ", momentum=-0.125"), t(2, 3, 4), V, V, V, V),
)
Q, K, W = t(1, 3, 2, 4), t(1, 5, 2, 4), t(1, 5, 2, 6)
ATT = "nn.attention(a, b, c{})"
BIAS = "nn.attention_bias(a, b, c, d{})"
VAR = "nn.attention_var_len(a, b, c, d, e, f, g{})"
S, M = t(3, dtype="int32"), t(dtype="int32")
ATTENTIONS = (
    (
        "attention-dtype",
        "RM201",
        ATT.format(""),
        *(t(*one, dtype="int32") for one in ((1, 3, 2, 4), (1, 5, 2, 4), (1, 5, 2, 6))),
    ),
    ("attention-key-dtype", "RM201", ATT.format(""), Q, t(1, 5, 2, 4, dtype="float64"), W),
    ("attention-value-dtype", "RM201", ATT.format(""), Q, K, t(1, 5, 2, 6, dtype="float64")),
    ("attention-bias-dtype", "RM201", BIAS.format(""), Q, K, W, t(1, 2, 3, 5, dtype="float64")),
    ("attention-query-rank", "RM105", ATT.format(""), t(3, 2, 4), K, W),
    ("attention-key-rank", "RM105", ATT.format(""), Q, t(5, 2, 4), W),
    ("attention-value-rank", "RM105", ATT.format(""), Q, K, t(1, 1, 5, 2, 6)),
    ("attention-bias-rank", "RM105", BIAS.format(""), Q, K, W, t(2, 3, 5)),
    ("attention-mask", "RM105", ATT.format(', causal_mask="Left"'), Q, K, W),
    ("attention-window-alone", "RM105", ATT.format(", window_size=2"), Q, K, W),
    ("attention-window", "RM105", ATT.format(', causal_mask="TopLeft", window_size=0'), Q, K, W),
    ("attention-key-images", "RM202", ATT.format(""), Q, t(2, 5, 2, 4), W),
    ("attention-value-images", "RM202", ATT.format(""), Q, K, t(2, 5, 2, 6)),
    ("attention-key-heads", "RM202", ATT.format(""), Q, t(1, 5, 3, 4), W),
    ("attention-value-heads", "RM202", ATT.format(""), Q, K, t(1, 5, 3, 6)),
    ("attention-sizes", "RM202", ATT.format(""), Q, t(1, 5, 2, 3), W),
    ("attention-keys", "RM202", ATT.format(""), Q, K, t(1, 4, 2, 6)),
    ("attention-bias-keys", "RM202", BIAS.format(""), Q, K, W, t(1, 2, 3, 4)),
    ("attention-bias-heads", "RM202", BIAS.format(""), Q, K, W, t(1, 3, 3, 5)),
    ("attention-bias-images", "RM202", BIAS.format(""), Q, K, W, t(2, 2, 3, 5)),
    ("attention-bias-queries", "RM202", BIAS.format(""), t(1, 1, 2, 4), K, W, t(1, 2, 3, 5)),
    ("var-len-dtype", "RM201", VAR.format(""), Q, t(1, 5, 2, 4, dtype="float64"), W, S, S, M, M),
    ("var-len-mask", "RM105", VAR.format(', causal_mask="Left"'), Q, K, W, S, S, M, M),
    ("var-len-window", "RM105", VAR.format(", window_size=2"), Q, K, W, S, S, M, M),
    ("var-len-starts-dtype", "RM201", VAR.format(""), Q, K, W, t(3), S, M, M),
    ("var-len-starts-rank", "RM201", VAR.format(""), Q, K, W, t(1, 3, dtype="int32"), S, M, M),
    ("var-len-key-starts", "RM201", VAR.format(""), Q, K, W, S, t(3), M, M),
    ("var-len-longest-dtype", "RM201", VAR.format(""), Q, K, W, S, S, M, t()),
    ("var-len-no-start", "RM105", VAR.format(""), Q, K, W, M, S, M, M),
    ("var-len-three-starts", "RM105", VAR.format(""), Q, K, W, S, S, S, M),
    ("var-len-three-lengths", "RM105", VAR.format(""), Q, K, W, S, M, M, M),
    ("var-len-sequences", "RM202", VAR.format(""), Q, K, W, S, t(4, dtype="int32"), M, M),
    ("var-len-images", "RM202", VAR.format(""), t(2, 3, 2, 4), t(2, 5, 2, 4), t(2, 5, 2, 6), S, S, M, M),
    ("var-len-key-images", "RM202", VAR.format(""), Q, t(2, 5, 2, 4), W, S, S, M, M),
    ("var-len-value-images", "RM202", VAR.format(""), Q, K, t(2, 5, 2, 6), S, S, M, M),
    ("var-len-key-heads", "RM202", VAR.format(""), Q, t(1, 5, 3, 4), W, S, S, M, M),
    ("var-len-value-heads", "RM202", VAR.format(""), Q, K, t(1, 5, 3, 6), S, S, M, M),
    ("var-len-sizes", "RM202", VAR.format(""), Q, t(1, 5, 2, 3), W, S, S, M, M),
    ("var-len-keys", "RM202", VAR.format(""), Q, K, t(1, 4, 2, 6), S, S, M, M),
)
CROSS, NLL = "nn.cross_entropy_with_logits(a, b)", "nn.nll_loss(a, b{})"
T = t(2, 4, dtype="int32")
LOSSES = (
    ("cross-entropy-dtypes", "RM201", CROSS, t(2, 3), t(2, 3, dtype="float64")),
    ("cross-entropy-ranks", "RM202", CROSS, t(2, 3), t(2)),
    ("cross-entropy-rows", "RM202", CROSS, t(2, 3), t(4, 3)),
    ("cross-entropy-classes", "RM202", CROSS, t(2, 3), t(2, 4)),
    ("nll-reduction", "RM105", NLL.format(', reduction="max"'), t(2, 3, 4), T),
    ("nll-rank", "RM202", NLL.format(""), t(2, 3, 4), t(2, dtype="int32")),
    ("nll-rank-above", "RM202", NLL.format(""), t(2, 3), T),
    ("nll-number", "RM202", NLL.format(""), t(), t(dtype="int32")),
    ("nll-targets-dtype", "RM201", NLL.format(""), t(2, 3, 4), t(2, 4)),
    ("nll-rows", "RM202", NLL.format(""), t(2, 3, 4), t(3, 4, dtype="int32")),
    ("nll-places", "RM202", NLL.format(""), t(2, 3, 4), t(2, 3, dtype="int32")),
    ("nll-weights-dtype", "RM201", NLL.format(", c"), t(2, 3, 4), T, t(3, dtype="float64")),
    ("nll-weights-rank", "RM201", NLL.format(", c"), t(2, 3, 4), T, t(3, 1)),
    ("nll-weights", "RM202", NLL.format(", c"), t(2, 3, 4), T, t(2)),
    ("nll-weights-of-one", "RM202", NLL.format(", c"), t(3), t(dtype="int32"), t(2)),
)
AREAS = {"images": IMAGES, "boxes": BOXES, "norms": NORMS, "attentions": ATTENTIONS, "losses": LOSSES}


def refusals(book, rows):
    """A case of each row: name, code, call, the types of `a`, `b` and so on."""
    for name, code, call, *types in rows:
        params = ", ".join(f"{letter}: {kind}" for letter, kind in zip("abcdefgh", types, strict=False))
        text = f"@R.function\ndef main({params}):\n    y = «R.»{call}\n    return y\n"
        ask(book, f"reject.{code.lower()}.{name}-more", [], text, ([], reject(code)))
