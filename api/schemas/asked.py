"""What may be asked: a question, and the moment it is asked about."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field

# One sign may stand for 18 letters, and each letter costs as much as any other.
_LONGEST_SPELT_OUT = 8000
_FIRST_YEAR, _LAST_YEAR = 1900, 2200


def _says_something(query: str) -> str:
    if not any(char.isalnum() for char in query):
        raise ValueError("the query holds no letter and no digit")
    if len(unicodedata.normalize("NFKC", query)) > _LONGEST_SPELT_OUT:
        raise ValueError("the query's signs stand for far too many letters")
    return query


def _is_near_our_time(moment: datetime) -> datetime:
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise ValueError(f"the time lies outside the years {_FIRST_YEAR} to {_LAST_YEAR}")
    return moment


Question = Annotated[str, Field(min_length=1, max_length=4000), AfterValidator(_says_something)]
Moment = Annotated[datetime, AfterValidator(_is_near_our_time)]
