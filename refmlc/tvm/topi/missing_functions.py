"""What real `topi` has and is not here, with the reason. A test asks real TVM that nothing is forgotten."""

from collections.abc import Mapping
from types import MappingProxyType

_OTHER_SHAPE = "its result depends on a schedule or a device; it is not an operator"
_NO_OPERATOR = "Relax has no such operator, so refmlc has no definition"
_QUANTIZED = "refmlc has no definition for kernels of packed bits"
_HELPER = "it is internal to TVM"
_BY_DATA = "the shape of its result depends on elements, which needs a call of Relax"
_APPROXIMATE = "it is an approximation by TVM; the function of the same name without `fast` is exact"
_BOXES = "refmlc does not yet define which boxes remain"

_REASONS: Mapping[str, str] = {
    "get_const_tuple decl_buffer make_idx within_index const_vector scanop get_const_int equal_const_int simplify"
    " get_pad_tuple get_pad_tuple1d get_pad_tuple3d get_pad_tuple_generic get_padded_shape namedtuple reduce"
    " conv declaration_conv2d_transpose_impl declaration_conv3d_transpose_impl conv2d_transpose_nchw_preprocess"
    " conv3d_transpose_ncdhw_preprocess softmax_common winograd_transform_matrices bilinear_sample_nchw"
    " bilinear_sample_nhwc can_convert_multiply_to_intdiv get_1d_indices get_1d_pixel get_2d_indices get_2d_pixel"
    " get_3d_indices get_3d_pixel get_closest_index get_inx nchw_pack_layout nchw_xc_layout"
    " collect_selected_indices collect_selected_indices_and_scores run_all_class_nms"
    " searchsorted_one div floordiv floormod extern": _HELPER,
    "conv2d_NCHWc conv2d_NCHWc_OIHWo conv2d_NCHWc_int8 depthwise_conv2d_NCHWc conv2d_winograd_nchw"
    " conv2d_winograd_nchw_without_weight_transform conv2d_winograd_nhwc conv2d_winograd_weight_transform"
    " conv2d_winograd_nhwc_without_weight_transform conv3d_winograd_weight_transform unpack_NCHWc_to_nchw"
    " conv2d_hwcn dense_pack scale_shift_nchwc": _OTHER_SHAPE,
    "binarize_pack binary_dense bitpack bitserial_conv2d_nchw bitserial_conv2d_nhwc bitserial_dense"
    " simulated_dequantize simulated_quantize fixed_point_multiply fixed_point_multiply_per_axis": _QUANTIZED,
    "fast_erf fast_exp fast_tanh fast_softmax": _APPROXIMATE,
    "dynamic_strided_slice dyn_tile sparse_reshape sparse_to_dense": _BY_DATA,
    "all_class_non_max_suppression non_max_suppression": _BOXES,
}
_NAMED = MappingProxyType({name: reason for text, reason in _REASONS.items() for name in text.split()})

_WITHOUT_OPERATOR = (
    "all any binary_search ceil_log2 dft expand_like left_shift_by log10 log2 matrix_set_diag reinterpret "
    "sequence_mask shape sliding_window stft strided_set tensor_size tensordot unravel_index layout_transform "
    "adaptive_max batch_to_space_nd conv1d_ncw conv1d_nwc conv1d_transpose_ncw correlation_nchw "
    "deformable_conv2d_nchw deformable_conv2d_nhwc depth_to_space depthwise_conv2d_backward_input_nhwc "
    "depthwise_conv2d_backward_weight_nhwc depthwise_conv2d_nhwc dilate fifo_buffer group_conv1d_ncw "
    "group_conv1d_nwc group_conv1d_transpose_ncw group_conv2d_transpose_nchw group_conv3d_transpose_ncdhw lrn "
    "lstm mirror_pad pool_grad scale_shift_nchw scale_shift_nhwc space_to_batch_nd space_to_depth upsampling "
    "upsampling3d affine crop_and_resize dilation2d_nchw dilation2d_nhwc resize1d roi_align_nchw "
    "roi_align_nhwc roi_pool_nchw"
)


def absent(name: str) -> str:
    """Why `name` (such as `nn.lstm`) is missing; empty if TVM has no such name."""
    own = name.rpartition(".")[2]
    return _NAMED.get(own) or (_NO_OPERATOR if own in _WITHOUT_OPERATOR.split() else "")
