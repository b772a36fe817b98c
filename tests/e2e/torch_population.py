"""Models of PyTorch that nobody here wrote: torchvision's, Hugging Face's with small sizes, layers of `torch.nn`.

`POPULATION` has for each name what makes the model with its inputs. Weights are random, moments of norms too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

SEED = 20_260
NO_OPERATORS = ("nms", "qnms")
"""Operators of torchvision whose names it needs when it is imported; its compiled part may not fit this PyTorch."""
LIBRARY = torch.library.Library("torchvision", "FRAGMENT")


@dataclass(frozen=True)
class Case:
    """A model in inference with its inputs."""

    model: nn.Module
    inputs: tuple[Tensor, ...]


class Named(nn.Module):
    """A model that is called with names, and gives the tensors of its result one after the other."""

    def __init__(self, model: nn.Module, names: tuple[str, ...], **settings: object) -> None:
        super().__init__()
        self.model, self.names, self.settings = model, names, settings

    def forward(self, *args: Tensor) -> tuple[Tensor, ...]:
        return tuple(tensors(self.model(**dict(zip(self.names, args, strict=True)), **self.settings)))


def tensors(result: object) -> list[Tensor]:
    """The tensors of a result, however it holds them."""
    if isinstance(result, Tensor):
        return [result]
    parts = result.values() if isinstance(result, dict) else result if isinstance(result, tuple | list) else ()
    return [one for part in parts for one in tensors(part)]


def name_operators() -> None:
    """Declare the operators of torchvision, whose compiled part is not loaded."""
    for operator in NO_OPERATORS:
        LIBRARY.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def vision(name: str, *shape: int, pictures: int = 1, **settings: object) -> Case:
    """A model of torchvision for one picture (or clip) of this shape."""
    import torchvision  # noqa: PLC0415 - after the names of its operators

    if "weights_backbone" in settings or name.startswith(("deeplab", "fcn", "lraspp")):
        settings = {"weights_backbone": None, **settings}
    model = torchvision.models.get_model(name, weights=None, **settings)
    inputs = tuple(torch.rand(1, *shape) for _ in range(pictures))
    return Case(Named(model, ("image1", "image2"), num_flow_updates=2) if pictures == 2 else Tensors(model), inputs)


class Tensors(nn.Module):
    """A model that gives the tensors of its result one after the other."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, *args: Tensor) -> tuple[Tensor, ...]:
        return tuple(tensors(self.model(*args)))


TEXT = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 37}
PICTURE = {"image_size": 30, "patch_size": 15, "num_channels": 3}


def hugging(family: str, model: str = "Model", kind: str = "text", **config: object) -> Case:
    """A model of Hugging Face's transformers by its family, with a small configuration."""
    import transformers  # noqa: PLC0415 - a package of this command alone

    given = getattr(transformers, f"{family}Config")(**config)
    made = getattr(transformers, f"{family}{model}")(given)
    tokens = partial(torch.randint, 3, 90)
    match kind:
        case "text":
            return Case(Named(made, ("input_ids",), return_dict=True), (tokens((1, 7)),))
        case "masked":
            mask = torch.tensor([[1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]])
            return Case(Named(made, ("input_ids", "attention_mask")), (tokens((2, 7)), mask))
        case "decoder":
            return Case(Named(made, ("input_ids",), use_cache=False), (tokens((1, 7)),))
        case "both":
            return Case(
                Named(made, ("input_ids", "decoder_input_ids"), use_cache=False), (tokens((1, 7)), tokens((1, 5)))
            )
        case "picture":
            side = int(config.get("image_size", 32))
            return Case(Named(made, ("pixel_values",)), (torch.rand(1, 3, side, side),))
        case "pair":
            return Case(Named(made, ("input_ids", "pixel_values")), (tokens((2, 7)), torch.rand(1, 3, 30, 30)))
        case "sound":
            return Case(Named(made, ("input_values",)), (torch.randn(1, 400),))
        case "speech":
            features = torch.randn(1, 16, 60)
            return Case(
                Named(made, ("input_features", "decoder_input_ids"), use_cache=False), (features, tokens((1, 5)))
            )
        case _:
            raise ValueError(kind)


def layer(make: Callable[[], nn.Module], *inputs: Callable[[], Tensor]) -> Case:
    """A layer of `torch.nn`."""
    return Case(Tensors(make()), tuple(one() for one in inputs))


def normal(*shape: int) -> Callable[[], Tensor]:
    """Random numbers."""
    return partial(torch.randn, *shape)


def numbers(below: int, *shape: int) -> Callable[[], Tensor]:
    """Random integers."""
    return partial(torch.randint, below, shape)


PICTURES = {
    **dict.fromkeys(("alexnet", "vgg11", "vgg13_bn"), (3, 64, 64)),
    **dict.fromkeys(("convnext_tiny", "densenet121", "resnet18", "resnet50", "resnext50_32x4d"), (3, 64, 64)),
    **dict.fromkeys(("wide_resnet50_2", "resnet34"), (3, 32, 32)),
    **dict.fromkeys(("efficientnet_b0", "efficientnet_v2_s", "mnasnet0_5", "mnasnet1_0"), (3, 64, 64)),
    **dict.fromkeys(("mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large"), (3, 64, 64)),
    **dict.fromkeys(("regnet_x_400mf", "regnet_y_400mf"), (3, 64, 64)),
    **dict.fromkeys(("shufflenet_v2_x0_5", "squeezenet1_0", "squeezenet1_1"), (3, 64, 64)),
    "googlenet": (3, 64, 64),
    "inception_v3": (3, 96, 96),
    **dict.fromkeys(("swin_t", "swin_v2_t"), (3, 64, 64)),
    "vit_b_32": (3, 64, 64),
    "maxvit_t": (3, 224, 224),
    **dict.fromkeys(("fcn_resnet50", "deeplabv3_resnet50", "deeplabv3_mobilenet_v3_large"), (3, 48, 48)),
    "lraspp_mobilenet_v3_large": (3, 64, 64),
    **dict.fromkeys(("r3d_18", "mc3_18", "r2plus1d_18"), (3, 4, 24, 24)),
    "s3d": (3, 16, 224, 224),
    "swin3d_t": (3, 4, 32, 32),
}
SETTINGS = {
    "googlenet": {"aux_logits": False, "init_weights": False},
    "inception_v3": {"aux_logits": False, "init_weights": False},
    "vit_b_32": {"image_size": 64},
}

PLAIN = {"n_layer": 2, "n_head": 4, "n_embd": 32, "vocab_size": 99, "n_positions": 16}
BOTH = {
    "vocab_size": 99,
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "max_position_embeddings": 20,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
}
SOUND = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 20,
    "conv_dim": (8, 8),
    "conv_stride": (4, 4),
    "conv_kernel": (8, 8),
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 2,
}
GROUPED = {**TEXT, "num_key_value_heads": 2, "max_position_embeddings": 64, "head_dim": 8}
SMALL_VISION = {**PICTURE, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 37}

HUGGING: Mapping[str, dict[str, object]] = {
    "bert": {"family": "Bert", "kind": "masked", **TEXT},
    "bert for masked words": {"family": "Bert", "model": "ForMaskedLM", **TEXT},
    "roberta": {"family": "Roberta", "kind": "masked", **TEXT},
    "electra": {"family": "Electra", "embedding_size": 32, **TEXT},
    "albert": {"family": "Albert", "embedding_size": 16, **TEXT},
    "distilbert": {"family": "DistilBert", "vocab_size": 99, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 37},
    "mpnet": {"family": "MPNet", **TEXT},
    "deberta-v2": {"family": "DebertaV2", "relative_attention": True, "pos_att_type": "c2p|p2c", **TEXT},
    "xlm-roberta": {"family": "XLMRoberta", **TEXT},
    "squeezebert": {"family": "SqueezeBert", **TEXT, "embedding_size": 32, "intermediate_size": 36},
    "fnet": {"family": "FNet", **TEXT},
    "gpt2": {"family": "GPT2", "model": "LMHeadModel", "kind": "decoder", **PLAIN},
    "gpt2 with mask": {"family": "GPT2", "kind": "masked", "use_cache": False, **PLAIN},
    "gpt-neo": {
        "family": "GPTNeo",
        "kind": "decoder",
        "vocab_size": 99,
        "hidden_size": 32,
        "num_layers": 2,
        "num_heads": 4,
        "attention_types": [[["global", "local"], 1]],
        "max_position_embeddings": 32,
    },
    "gpt-neox": {"family": "GPTNeoX", "model": "ForCausalLM", "kind": "decoder", **TEXT},
    "gpt-j": {"family": "GPTJ", "kind": "decoder", "rotary_dim": 4, **PLAIN},
    "codegen": {"family": "CodeGen", "kind": "decoder", "rotary_dim": 4, **PLAIN},
    "opt": {
        "family": "OPT",
        "kind": "decoder",
        "vocab_size": 99,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "ffn_dim": 37,
        "word_embed_proj_dim": 32,
        "max_position_embeddings": 32,
    },
    "bloom": {"family": "Bloom", "kind": "decoder", "vocab_size": 99, "hidden_size": 32, "n_layer": 2, "n_head": 4},
    "falcon": {"family": "Falcon", "kind": "decoder", **TEXT},
    "llama": {"family": "Llama", "model": "ForCausalLM", "kind": "decoder", **GROUPED},
    "mistral": {"family": "Mistral", "kind": "decoder", **GROUPED},
    "mixtral": {"family": "Mixtral", "kind": "decoder", "num_local_experts": 4, **GROUPED, "intermediate_size": 40},
    "qwen2": {"family": "Qwen2", "kind": "decoder", **GROUPED},
    "qwen3": {"family": "Qwen3", "kind": "decoder", **GROUPED},
    "gemma": {"family": "Gemma", "kind": "decoder", **GROUPED},
    "gemma2": {"family": "Gemma2", "kind": "decoder", **GROUPED},
    "phi": {"family": "Phi", "kind": "decoder", **TEXT},
    "phi3": {"family": "Phi3", "kind": "decoder", "pad_token_id": 0, **GROUPED},
    "olmo": {"family": "Olmo", "kind": "decoder", **TEXT},
    "granite": {"family": "Granite", "kind": "decoder", **GROUPED},
    "mamba": {
        "family": "Mamba",
        "kind": "decoder",
        "vocab_size": 99,
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "state_size": 4,
        "time_step_rank": 2,
    },
    "t5": {
        "family": "T5",
        "kind": "both",
        "vocab_size": 99,
        "d_model": 16,
        "d_kv": 4,
        "d_ff": 24,
        "num_layers": 2,
        "num_heads": 4,
    },
    "bart": {"family": "Bart", "kind": "both", **BOTH},
    "marian": {"family": "Marian", "kind": "both", **BOTH},
    "pegasus": {"family": "Pegasus", "kind": "both", **BOTH},
    "mbart": {"family": "MBart", "kind": "both", **BOTH},
    "whisper": {
        "family": "Whisper",
        "kind": "speech",
        "num_mel_bins": 16,
        "max_source_positions": 30,
        **BOTH,
        "max_target_positions": 20,
    },
    "wav2vec2": {"family": "Wav2Vec2", "kind": "sound", **SOUND},
    "hubert": {"family": "Hubert", "kind": "sound", **SOUND},
    "vit": {"family": "ViT", "kind": "picture", **SMALL_VISION},
    "deit": {"family": "DeiT", "kind": "picture", **SMALL_VISION},
    "beit": {"family": "Beit", "kind": "picture", **SMALL_VISION},
    "dinov2": {"family": "Dinov2", "kind": "picture", **SMALL_VISION},
    "clip": {
        "family": "CLIP",
        "kind": "pair",
        "projection_dim": 16,
        "text_config": {**TEXT, "eos_token_id": 2},
        "vision_config": SMALL_VISION,
    },
    "siglip": {
        "family": "Siglip",
        "kind": "pair",
        "text_config": {**TEXT, "projection_size": 32},
        "vision_config": SMALL_VISION,
    },
    "swin": {
        "family": "Swin",
        "kind": "picture",
        "image_size": 32,
        "patch_size": 2,
        "embed_dim": 16,
        "depths": [1, 2],
        "num_heads": [2, 2],
        "window_size": 2,
    },
    "segformer": {
        "family": "Segformer",
        "model": "ForSemanticSegmentation",
        "kind": "picture",
        "depths": [1, 1],
        "num_encoder_blocks": 2,
        "hidden_sizes": [8, 16],
        "num_attention_heads": [1, 2],
        "sr_ratios": [2, 1],
        "patch_sizes": [7, 3],
        "strides": [4, 2],
        "mlp_ratios": [2, 2],
        "decoder_hidden_size": 16,
    },
    "convnext v2": {"family": "ConvNextV2", "kind": "picture", "hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1]},
    "resnet of transformers": {
        "family": "ResNet",
        "kind": "picture",
        "embedding_size": 8,
        "hidden_sizes": [8, 16],
        "depths": [1, 1],
        "layer_type": "basic",
    },
}

LAYERS: Mapping[str, Callable[[], Case]] = {
    "nn.Transformer": partial(
        layer, lambda: nn.Transformer(16, 2, 1, 1, 24, batch_first=True), normal(1, 5, 16), normal(1, 4, 16)
    ),
    "nn.LSTM, both ways": partial(layer, lambda: nn.LSTM(5, 4, 2, bidirectional=True), normal(6, 2, 5)),
    "nn.GRU": partial(layer, lambda: nn.GRU(5, 4, 2, batch_first=True), normal(2, 6, 5)),
    "nn.EmbeddingBag": partial(layer, lambda: nn.EmbeddingBag(20, 6, mode="mean"), numbers(20, 3, 4)),
    "nn.Upsample, bilinear": partial(layer, lambda: nn.Upsample(scale_factor=2, mode="bilinear"), normal(1, 2, 5, 4)),
    "weight norm": partial(layer, lambda: nn.utils.parametrizations.weight_norm(nn.Conv1d(3, 4, 3)), normal(1, 3, 9)),
    "nn.MultiheadAttention": partial(
        layer, lambda: nn.MultiheadAttention(16, 4), normal(5, 2, 16), normal(6, 2, 16), normal(6, 2, 16)
    ),
    "nn.Bilinear": partial(layer, lambda: nn.Bilinear(4, 5, 3), normal(2, 4), normal(2, 5)),
    "nn.ConvTranspose2d": partial(
        layer, lambda: nn.ConvTranspose2d(3, 4, 3, stride=2, output_padding=1), normal(1, 3, 5, 5)
    ),
}


def population() -> dict[str, Callable[[], Case]]:
    """What makes each model, by its name."""
    found: dict[str, Callable[[], Case]] = {
        name: partial(vision, name, *shape, **SETTINGS.get(name, {})) for name, shape in PICTURES.items()
    }
    found["raft_small"] = partial(vision, "raft_small", 3, 128, 128, pictures=2)
    found |= {name: partial(hugging, **given) for name, given in HUGGING.items()}
    return found | LAYERS


def case(name: str) -> Case:
    """A model by its name, in inference, with random moments and weights of norms."""
    torch.manual_seed(SEED)
    if name not in LAYERS:
        name_operators()
    made = population()[name]()
    for module in made.model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.running_mean is not None:
            nn.init.uniform_(module.running_mean, -0.5, 0.5)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias, -0.5, 0.5)
    made.model.eval()
    for param in made.model.parameters():
        param.requires_grad_(False)
    return made
