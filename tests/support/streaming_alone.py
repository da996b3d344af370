"""mosaicml-streaming without the parts that need torchvision and transformers."""

import sys
import types

for _name in ("streaming.multimodal", "streaming.text", "streaming.vision"):
    sys.modules[_name] = types.ModuleType(_name)
for _name, _class in (
    ("feature_extraction_utils", "BatchFeature"),
    ("tokenization_utils_base", "BatchEncoding"),
):
    _module = types.ModuleType(f"transformers.{_name}")
    setattr(_module, _class, type(_class, (dict,), {}))
    sys.modules[_module.__name__] = _module
sys.modules["transformers"] = types.ModuleType("transformers")
