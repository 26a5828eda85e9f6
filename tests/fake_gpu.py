"""A GPU for machines that have none: the CPU does its work, but it rejects the CPU's tensors.

Code that mixes devices runs on a CPU and fails on a GPU. Inside `fake_gpu()`, whatever is made on
"cuda" or moved there is a `GpuTensor`, which holds its numbers in a tensor on the CPU. An operation
raises RuntimeError where a GPU would: for a tensor on the CPU beside one on the GPU, or for a
generator on the CPU. So code that reaches its end has not mixed them, and its results can be
compared with those on the CPU. This says nothing of a GPU's kernels, autocast, speed or nccl.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import DEFAULT, patch

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    return_and_correct_aliasing,
)
from torch.utils._pytree import tree_leaves, tree_map

GPU, CPU = torch.device("cuda", 0), torch.device("cpu")
COPIES = ("_to_copy", "copy_")  # from one device to another
INDEXED = ("index", "index_put", "index_put_", "_index_put_impl_")  # indices may be on the CPU


class GpuTensor(Tensor):
    """To Python, a tensor on "cuda:0"; to autograd, one on "meta", which every PyTorch has."""

    device = property(lambda self: GPU)
    is_cuda = property(lambda self: True)
    is_meta = property(lambda self: False)

    @staticmethod
    def __new__(cls, on_cpu):
        layout = {"strides": on_cpu.stride(), "storage_offset": on_cpu.storage_offset()}
        kind = {"dtype": on_cpu.dtype, "device": "meta"}
        made = Tensor._make_wrapper_subclass(cls, on_cpu.shape, **layout, **kind)
        made.on_cpu = on_cpu
        return made

    def __repr__(self):
        return f"GpuTensor({self.on_cpu})"

    def tolist(self):
        return self.on_cpu.tolist()

    def __deepcopy__(self, memo):
        copy = GpuTensor(self.on_cpu.clone()).requires_grad_(self.requires_grad)
        copy._is_param = getattr(self, "_is_param", False)
        return memo.setdefault(id(self), copy)

    # With these two, `module.to` keeps the identity of parameters, as it does for a GPU.
    def __tensor_flatten__(self):
        return ["on_cpu"], None

    @staticmethod
    def __tensor_unflatten__(parts, _context, _size, _stride):
        return GpuTensor(parts["on_cpu"])

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        check_devices(operation, args, kwargs)
        goal = kwargs.get("device")
        here = {"device": CPU} if goal else {}
        result = operation(*tree_map(unwrapped, args), **tree_map(unwrapped, kwargs) | here)
        if goal == CPU:
            return result
        result = tree_map(wrapped, result)
        return return_and_correct_aliasing(operation, args, kwargs, result)  # if it was in place


class Factories(TorchDispatchMode):
    """Tensors that PyTorch itself makes inside an operation, on the device of its arguments."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # otherwise the first call imports the compiler, which takes seconds

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if kwargs.get("device") == torch.device("meta"):
            return GpuTensor.__torch_dispatch__(operation, types, args, kwargs)
        return operation(*args, **kwargs)


def check_devices(operation, args, kwargs):
    """Raise RuntimeError unless a GPU would run the operation."""
    check_generator(operation, kwargs)
    name = operation.overloadpacket.__name__
    if name in COPIES:
        return
    indices = tree_leaves(args[1]) if name in INDEXED else []
    for place, value in enumerate(tree_leaves((args, kwargs))):
        if isinstance(value, GpuTensor) or not isinstance(value, Tensor):
            continue
        written = place == 0 and operation._schema.is_mutable
        number = value.dim() == 0 and torch.Tag.pointwise in operation.tags and not written
        if number or any(value is index for index in indices):
            continue
        raise RuntimeError(
            f"{operation}: expected all tensors on {GPU}; got one on cpu, {list(value.shape)}"
        )


def check_generator(operation, kwargs):
    """Raise RuntimeError if a generator on the CPU is to draw on the GPU."""
    generator = kwargs.get("generator")
    if generator is not None and generator.device == CPU:
        raise RuntimeError(f"{operation}: expected a generator on {GPU}; got one on cpu")


def unwrapped(value):
    return value.on_cpu if isinstance(value, GpuTensor) else value


def wrapped(value):
    return GpuTensor(value) if type(value) is Tensor else value


class Upload(torch.autograd.Function):
    """From the CPU to the GPU, and the gradient back."""

    @staticmethod
    def forward(_context, tensor):
        return GpuTensor(tensor.detach().clone())

    @staticmethod
    def backward(_context, gradient):
        return gradient.on_cpu


class Uploads(TorchFunctionMode):
    """Calls that name "cuda", which a PyTorch for CPUs rejects: on the CPU, then an upload."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        if name == "to":
            return move(function, *args, **kwargs)
        if name == "new_tensor" and isinstance(args[0], GpuTensor):
            return wrapped(function(args[0].on_cpu, *args[1:], **kwargs))
        if name in ("__getitem__", "__setitem__") and isinstance(args[0], GpuTensor):
            args = (args[0], with_tensors(args[1]), *args[2:])
        device = None if kwargs.get("device") is None else torch.device(kwargs["device"])
        if device == torch.device("meta"):  # asked for by us, not by PyTorch inside an operation
            with _disable_current_modes():
                return function(*args, **kwargs)
        if device is not None and device.type == GPU.type:
            check_generator(name, kwargs)
            return Upload.apply(function(*args, **kwargs | {"device": CPU}))
        return function(*args, **kwargs)


def with_tensors(index):
    """An index with tensors instead of lists of numbers; no mode sees PyTorch convert them."""
    if isinstance(index, tuple):
        return tuple(map(with_tensors, index))
    return torch.tensor(index, dtype=torch.long) if isinstance(index, list) else index


def move(to, tensor, *args, **kwargs):
    """`tensor.to` with a device, a dtype, both, or another tensor."""
    given = [*args, *kwargs.values()]
    devices = [value for value in given if isinstance(value, str | torch.device)]
    others = [value for value in given if isinstance(value, Tensor)]
    goal = torch.device((devices + [other.device for other in others] + [CPU])[0])
    if goal.type != GPU.type:
        return to(tensor, *args, **kwargs)
    kinds = [value for value in given if isinstance(value, torch.dtype)]
    kinds += [other.dtype for other in others]
    tensor = to(tensor, *kinds) if kinds else tensor
    return tensor if isinstance(tensor, GpuTensor) else Upload.apply(tensor)


@contextmanager
def fake_gpu() -> Iterator[None]:
    """Inside, there is one GPU; its random numbers come from the CPU's generator."""
    functions = ("device_count", "set_device", "synchronize", "get_rng_state", "set_rng_state")
    mocks = patch.multiple(torch.cuda, **dict.fromkeys(functions, DEFAULT))
    with Factories(), Uploads(), mocks as gpu:
        gpu["device_count"].return_value = 1
        yield gpu
