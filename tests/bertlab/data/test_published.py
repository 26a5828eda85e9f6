"""Published models, from a server on this machine that uses the Hub's protocol: no network.

It serves random weights in the layout of bert-base-uncased: the same configuration and files, the
norms' old names gamma and beta, both heads, no second copy of a tied weight, and a pickle beside.
"""

import errno
import hashlib
import json
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import torch
import transformers
from huggingface_hub import constants, file_download
from huggingface_hub.utils import close_session
from safetensors.torch import save

from bertlab import data
from bertlab.data import DataError, fetch_published
from bertlab.data.__main__ import main
from bertlab.data.published import HUB_MODELS, HubFile, HubModel, published
from bertlab.model import Bert, BertConfig, BertForPreTraining
from bertlab.model.pretrained import COPIES, load_pretrained, tensor_shapes
from bertlab.tokenizers.files import load_tokenizer
from tests.small_models import generator, reference_model

WEIGHTS, REPOSITORY, REVISION = "model.safetensors", "somebody/bert-random", "0123abcd" * 5
NAMES = ("config.json", "vocab.txt", "tokenizer_config.json", WEIGHTS)
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghij"]
KINDS = {Bert: transformers.BertModel, BertForPreTraining: transformers.BertForPreTraining}


# What config.json says in bert-base-uncased, besides the names of the shared sizes.
SHARED = {
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 768,
    "initializer_range": 0.02,
    "intermediate_size": 3072,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 512,
    "model_type": "bert",
    "num_attention_heads": 12,
    "num_hidden_layers": 12,
    "pad_token_id": 0,
    "type_vocab_size": 2,
    "vocab_size": 30522,
}
BASE = SHARED | {
    "architectures": ["BertForMaskedLM"],
    "gradient_checkpointing": False,
    "position_embedding_type": "absolute",
    "transformers_version": "4.6.0.dev0",
    "use_cache": True,
}


def config_file(said):
    return (json.dumps(said, indent=2, sort_keys=True) + "\n").encode()


def published_layout():
    """File -> content, as google-bert/bert-base-uncased has it, with random weights."""
    model = reference_model(transformers.BertForPreTraining, vocab_size=len(WORDS))
    config = model.config.to_dict()
    tensors = {
        old_name(name): tensor.contiguous()
        for name, tensor in model.state_dict().items()
        if "decoder" not in name and "position_ids" not in name
    }
    return {
        "config.json": config_file(BASE | {key: config[key] for key in SHARED}),
        "vocab.txt": "".join(f"{word}\n" for word in WORDS).encode(),
        "tokenizer_config.json": b'{"do_lower_case": true, "model_max_length": 512}',
        WEIGHTS: save(tensors, metadata={"format": "pt"}),
        "pytorch_model.bin": b"\x80\x02a pickle, which nobody asks for",
    }


def old_name(name):
    """The name of a tensor in the first published files."""
    return name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta")


FILES = published_layout()


class Hub(ThreadingHTTPServer):
    """The parts of huggingface.co that a download needs; large files are elsewhere, as there.

    asked: method, file and first byte of each request; cuts: file -> after how many bytes the
    connection is interrupted, once for each entry.
    """

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.files, self.asked, self.cuts, self.knows_ranges = dict(FILES), [], {}, True
        self.url = f"http://127.0.0.1:{self.server_port}"

    def got(self):
        """File and first byte of each download, without the small files."""
        return [first for method, file, first in self.asked if (method, file) == ("GET", WEIGHTS)]


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.answer()

    do_GET = do_HEAD

    def answer(self):
        resolve, stored = f"/{REPOSITORY}/resolve/{REVISION}/", "/stored-elsewhere/"
        name = self.path.rpartition("/")[2]
        if self.path not in (resolve + name, stored + name) or name not in self.server.files:
            return self.say(404, {"X-Error-Code": "EntryNotFound", "Content-Length": "0"})
        content = self.server.files[name]
        sha256 = hashlib.sha256(content).hexdigest()
        if name == WEIGHTS and self.path.startswith(resolve):
            elsewhere = f"http://localhost:{self.server.server_port}{stored}{name}"
            linked = {"X-Linked-Size": str(len(content)), "X-Linked-ETag": f'"{sha256}"'}
            return self.say(302, {"Location": elsewhere, "Content-Length": "0", **linked})
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "bytes=0-"))
        first = int(wanted[1])
        self.server.asked.append((self.command, name, first))
        first *= self.server.knows_ranges
        head = {"ETag": f'"{sha256}"', "Content-Length": str(len(content) - first)}
        if first:
            head["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
        self.say(206 if first else 200, head)
        if self.command == "GET":
            rest = content[first:]
            if self.server.cuts.get(name):
                rest, self.close_connection = rest[: self.server.cuts[name].pop(0)], True
            self.wfile.write(rest)

    def say(self, status, head):
        self.send_response(status)
        for key, value in {"X-Repo-Commit": REVISION, **head}.items():
            self.send_header(key, value)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """The server is the whole network, the cache is empty, and nothing waits."""
    connect = socket.socket.connect

    def connect_here(self, address):
        assert address[0] in ("127.0.0.1", "::1"), f"a test asked the network: {address}"
        return connect(self, address)

    with Hub() as hub:
        thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(socket.socket, "connect", connect_here)
        monkeypatch.setenv("NO_PROXY", "*")
        monkeypatch.setenv("BERTLAB_DATA", str(tmp_path / "cache"))
        template = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", True)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 512)
        monkeypatch.setattr(file_download.time, "sleep", lambda _: None)
        know(monkeypatch)
        close_session()
        yield hub
        close_session()
        hub.shutdown()
        thread.join()


def know(monkeypatch, **changed):
    """Put our model into the table; changed: file without its ending -> its content there."""
    contents = FILES | changed
    files = [HubFile(n, len(c), hashlib.sha256(c).hexdigest()) for n, c in contents.items()]
    model = HubModel(REPOSITORY, REVISION, "MIT", tuple(f for f in files if f.name in NAMES))
    monkeypatch.setitem(HUB_MODELS, "bert-random", model)


def only_line(capsys):
    """The command's error message, without progress bars."""
    lines = re.split(r"[\r\n]+", capsys.readouterr().err.strip())
    (line,) = (line for line in lines if line and "%|" not in line)
    return line


def kept(tmp_path):
    """Names of the files in the cache, and the sizes of incomplete ones."""
    files = [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]
    names = {file.name for file in files if not file.name.endswith((".lock", ".part"))}
    return names, [file.stat().st_size for file in files if file.name.endswith(".part")]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_fetched_is_what_transformers_reads_from_the_same_files(hub, kind):
    folder = fetch_published("bert-random")
    assert {file.name for file in folder.iterdir()} == set(NAMES)
    assert {file for _, file, _ in hub.asked} == set(NAMES), "the pickle was left where it is"
    assert folder == published("bert-random") == data.weights("bert-random")
    assert any(b"LayerNorm.gamma" in (folder / name).read_bytes() for name in NAMES)
    ours = load_pretrained(folder, kind)
    reference = KINDS[kind].from_pretrained(folder, attn_implementation="eager").eval()
    ids = torch.randint(len(WORDS), (3, 12), generator=generator())
    with torch.no_grad():
        got, expected = ours(ids), reference(ids)
    for one, other in zip(got[:2], expected[:2], strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5)
    assert load_tokenizer(folder).encode("A cab").ids == [2, 5, 1, 3]
    hub.asked.clear()
    assert fetch_published("bert-random") == folder
    assert hub.asked == [], "what is there is not fetched again"


WHOLE, WITHOUT = set(NAMES), set(NAMES) - {WEIGHTS}


def fetched_weights():
    return (fetch_published("bert-random") / WEIGHTS).read_bytes()


def test_after_an_interruption_only_the_rest_is_requested(hub, tmp_path):
    hub.cuts[WEIGHTS] = [4096, 8192]
    assert fetched_weights() == FILES[WEIGHTS]
    assert hub.got() == [0, 4096, 12288]
    assert kept(tmp_path) == (WHOLE, [])


@pytest.mark.parametrize("knows_ranges", [True, False])
def test_a_download_that_failed_is_resumed_by_the_next_call(hub, tmp_path, knows_ranges):
    hub.knows_ranges, hub.cuts[WEIGHTS] = knows_ranges, [4096, *6 * [0]]
    with pytest.raises(DataError, match=r"model.safetensors could not be .*resumes where this st"):
        fetch_published("bert-random")
    names, (first,) = kept(tmp_path)
    assert names == WITHOUT
    with pytest.raises(DataError, match=r"not in the cache.*fetch bert-random` \(0 MB\)"):
        published("bert-random")
    hub.asked.clear()
    hub.cuts.clear()
    assert fetched_weights() == FILES[WEIGHTS]  # also if the server sends everything again
    if knows_ranges:
        assert first == 4096
        assert [ask for ask in hub.asked if ask[0] == "GET"] == [("GET", WEIGHTS, first)]
    assert kept(tmp_path) == (WHOLE, [])


def test_a_part_that_is_longer_than_the_file_begins_again(hub, tmp_path):
    part = tmp_path / "cache" / f".{hashlib.sha256(FILES[WEIGHTS]).hexdigest()}.part"
    part.parent.mkdir()
    part.write_bytes(FILES[WEIGHTS] + b"more")
    assert fetched_weights() == FILES[WEIGHTS]
    assert hub.got() == [0]


def little_space(_, patch):
    usage = shutil.disk_usage(".")._replace(free=5000)
    patch.setattr(shutil, "disk_usage", lambda _: usage)


def broken_disk(number):
    def fault(_, patch):
        def http_get(_, stream, **more):
            stream.write(FILES[WEIGHTS][:4096])
            raise OSError(number, os.strerror(number), stream.name)

        patch.setattr(file_download, "http_get", http_get)

    return fault


def no_server(_, patch):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/{{repo_id}}/{{revision}}/{{filename}}"
    patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url)


def served(content):
    return lambda hub, _: hub.files.update({WEIGHTS: content})


OFFLINE = constants, "HF_HUB_OFFLINE", True
FAILURES = [  # the fault, the sentence, which downloads began, which files are there afterwards
    (served(FILES[WEIGHTS][:-1] + b"?"), r"not the file we know.*deleted", [0], WITHOUT),
    (served(FILES[WEIGHTS] + b"?"), r"model.safetensors .*not the file we know", [], WITHOUT),
    (lambda hub, _: hub.files.pop(WEIGHTS), r"not be downloaded.*\(huggingface_hub: ", [], WITHOUT),
    (little_space, "bert-random: there is too little space in .*cache; free some, o", [], WITHOUT),
    (broken_disk(errno.ENOSPC), "too little space", [], set()),
    (broken_disk(errno.EROFS), "Read-only file system", [], set()),
    (no_server, "could not be downloaded; when online, run `.*fetch bert-random`", [], set()),
    (lambda _, patch: patch.setattr(*OFFLINE), "HF_HUB_OFFLINE", [], set()),
    (
        lambda _, patch: patch.setitem(sys.modules, "huggingface_hub", None),
        *(r"pip install 'bertlab\[published\]'", [], set()),
    ),
]


@pytest.mark.parametrize(("fault", "message", "downloads", "left"), FAILURES)
def test_a_fetch_that_fails_says_why_in_one_line_and_can_be_repeated(
    hub, tmp_path, monkeypatch, capsys, fault, message, downloads, left
):
    with monkeypatch.context() as patch:
        fault(hub, patch)
        assert main(["fetch", "bert-random"]) == 1
    assert re.search(message, only_line(capsys))
    assert hub.got() == downloads
    names, parts = kept(tmp_path)
    assert names == left
    assert parts == [] or message.startswith("Read-only")
    hub.files = dict(FILES)
    assert fetched_weights() == FILES[WEIGHTS]


def test_an_unknown_name_is_reported_with_similar_names(hub, capsys):
    for ask in (fetch_published, published):
        with pytest.raises(ValueError, match="'bert-base-uncasd'; did you mean bert-base-uncased"):
            ask("bert-base-uncasd")
    assert main(["fetch", "bert-random", "bert-base-uncasd"]) == 1
    line = only_line(capsys)
    assert re.search(r"did you mean bert-base-uncased.*\? known: core, all, gensim", line)
    with pytest.raises(ValueError, match=r"no model 'bert'; expected one of minilm.*bert-base-unc"):
        data.weights("bert")
    assert hub.asked == [], "no name is fetched before all are known"


def test_a_pickle_is_rejected_before_any_request(hub):
    pickle = HubFile("pytorch_model.bin", 1, "0" * 64)
    with pytest.raises(ValueError, match=r"pytorch_model.bin is not fetched, since a pickle can"):
        HubModel(REPOSITORY, REVISION, "MIT", (pickle,))


def test_a_damaged_file_is_named_and_it_alone_is_fetched_again(hub):
    folder = fetch_published("bert-random")
    (folder / "vocab.txt").write_bytes(FILES["vocab.txt"].upper())
    with pytest.raises(DataError, match=r"bert-random is damaged: the content of vocab.txt has"):
        published("bert-random")
    hub.asked.clear()
    fetch_published("bert-random")
    assert [ask for ask in hub.asked if ask[0] == "GET"] == [("GET", "vocab.txt", 0)]
    assert published("bert-random") == folder


def test_two_at_once_fetch_once(hub):
    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(fetch_published, "bert-random") for _ in range(3)]:
            done.result()
    assert sorted(file for method, file, _ in hub.asked if method == "GET") == sorted(NAMES)


def test_a_bar_is_shown_on_request(hub, tmp_path, capsys):
    fetch_published("bert-random")
    assert capsys.readouterr().err == ""
    shutil.rmtree(tmp_path / "cache")
    assert main(["fetch", "bert-random"]) == 0
    shown = capsys.readouterr()
    assert re.search(r"model.safetensors: 100%", shown.err)
    assert shown.out == f"bert-random: complete in {tmp_path / 'cache'}\n"


@pytest.mark.slow
def test_another_server_is_named_by_the_environment(hub, tmp_path):
    program = f"""
import sys
from bertlab.data.__main__ import main
from bertlab.data.published import *
HUB_MODELS["bert-random"] = {HUB_MODELS["bert-random"]!r}
assert "huggingface_hub" not in sys.modules, "it is imported when it is needed"
sys.exit(main(["fetch", "bert-random"]))"""
    changed = {"HF_ENDPOINT": hub.url, "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ | changed)
    assert published("bert-random").is_dir()
    assert hub.got() == [0]


def test_the_table_has_complete_models_by_revision_and_hash():
    for name, model in HUB_MODELS.items():
        config, vocab, *case, weights = model.files
        assert (config.name, vocab.name, weights.name) == ("config.json", "vocab.txt", WEIGHTS)
        cased = "cased" in name and "uncased" not in name
        assert [file.name for file in case] == ["tokenizer_config.json"] or not cased
        assert re.fullmatch("[0-9a-f]{40}", model.revision)
        assert all(re.fullmatch("[0-9a-f]{64}", file.sha256) for file in model.files)


def test_the_small_files_match_the_table():
    """Reconstructed from their content, so that the table is checked without a download."""
    case = '{{"do_lower_case": {}, "model_max_length": 512}}'.format
    sizes = {"hidden_size": 128, "num_attention_heads": 2, "num_hidden_layers": 2}
    for name, config, lowered in [
        ("bert-base-uncased", BASE, "true"),
        ("bert-base-cased", BASE | {"vocab_size": 28996}, "false"),
        ("google/bert_uncased_L-2_H-128_A-2", SHARED | sizes | {"intermediate_size": 512}, ""),
    ]:
        said = {"config.json": config_file(config), "tokenizer_config.json": case(lowered).encode()}
        for file in HUB_MODELS[name].files:
            if content := said.get(file.name):
                known = (len(content), hashlib.sha256(content).hexdigest())
                assert (file.size, file.sha256) == known, f"{name}: {file.name}"


def safetensors_size(config, old_names, metadata):
    """Bytes of a file with the tensors that we read: 8, a header of whole eights, the numbers."""
    header, end = {"__metadata__": {"format": "pt", **metadata}}, 0
    shapes = tensor_shapes(config, BertForPreTraining)
    for name in sorted((old_name(one) if old_names else one) for one in shapes):
        shape = shapes.get(name) or shapes[name.replace("gamma", "weight").replace("beta", "bias")]
        start, end = end, end + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":"))
    return 8 + math.ceil(len(text) / 8) * 8 + end


def test_published_weights_are_as_long_as_the_tensors_that_we_read():
    """To the byte: names, shapes and order are those of the files, without fetching one."""
    base, tiny = BertConfig(30522), BertConfig(30522, 128, 2, 2, 512)
    for name, config, old_names, metadata in [
        ("bert-base-uncased", base, True, {}),
        ("bert-base-cased", replace(base, vocab_size=28996), True, {}),
        ("google/bert_uncased_L-2_H-128_A-2", tiny, False, COPIES),
    ]:
        assert HUB_MODELS[name].files[-1].size == safetensors_size(config, old_names, metadata)
