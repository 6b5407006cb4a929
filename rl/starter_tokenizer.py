"""The starter policy's tokenizer: whole words, single digits, a vocabulary that only ever grows.

Each token carries the blank in front of it (" slab-b", " 2"), so tokens joined end to end give the text
back exactly. The list in `assets/starter_vocabulary.json` is the vocabulary in the order of its ids: new
words are appended, never inserted, because a checkpoint knows its tokens by number.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

PAD, EOS, UNKNOWN = "<pad>", "<eos>", "<unk>"
VOCABULARY_FILE = Path(__file__).parent / "assets" / "starter_vocabulary.json"

# A word, a digit or a sign takes the single blank before it along; other whitespace stands alone.
_PIECE = r" ?[A-Za-z]+(?:-[A-Za-z]+)*| ?[0-9]| ?[^A-Za-z0-9\s]|\s"


def read_vocabulary(file: Path = VOCABULARY_FILE) -> list[str]:
    """Return the tokens in the order of their ids."""
    return json.loads(file.read_text(encoding="utf-8"))


def build_tokenizer(vocabulary: Iterable[str]) -> PreTrainedTokenizerFast:
    """Build the tokenizer; saved with `save_pretrained`, it loads without this toolkit.

    Encoding adds no special tokens. A word outside the vocabulary becomes one `<unk>`, which decoding
    shows even where special tokens are skipped: a text that did not survive must not look as if it had.
    """
    ids = {token: index for index, token in enumerate(vocabulary)}
    backend = Tokenizer(models.WordLevel(ids, unk_token=UNKNOWN))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(_PIECE), behavior="isolated")  # pyright: ignore[reportAttributeAccessIssue]
    backend.decoder = decoders.Fuse()  # pyright: ignore[reportAttributeAccessIssue]
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token=PAD,
        eos_token=EOS,
        clean_up_tokenization_spaces=False,
        padding_side="left",
        model_max_length=512,
    )
