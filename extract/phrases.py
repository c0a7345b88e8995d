"""The few words that extraction adds to what the source says, in the source's language.

English for every language but Chinese: labels are short and a reader of another language meets them in
file formats anyway.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from extract.model import Granularity, TimeSpan

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip

_ENGLISH = {
    "sheet": "Sheet {0}",
    "table_row": "{0}, row {1}",
    "rows": "{0}, rows {1}–{2}",
    "page": "{0}, p. {1}",
    "pages": "{0}, p. {1}–{2}",
    "slide_title": "Slide {0}: {1}",
    "notes": "speaker notes",
    "comment": "comment",
    "comment_by": "comment by {0}",
    "footnote": "footnote",
    "caption": "caption",
    "mail": "Mail from {0}",
    "mail_to": "Mail from {0} to {1}",
    "mail_on": " on {0}",
    "mail_about": " about “{0}”",
    "titled": "“{0}”",
    "quoted": "quoted",
    "colon": ": ",
    "comma": ", ",
    "semicolon": "; ",
    "equals": " = ",
    "and": "{0} and {1}",
    "speaker_at": "{0} ({1})",
    "rows_columns": "{0}: {1} rows, columns {2}",
    "for_example": "e.g. {0}",
    "talk": "{0} talk about {1}",
    "talk_alone": "{0} talks about {1}",
}
_CHINESE = {
    "sheet": "工作表 {0}",
    "table_row": "{0}，第{1}行",
    "rows": "{0}，第{1}–{2}行",
    "page": "{0}，第{1}页",
    "pages": "{0}，第{1}–{2}页",
    "slide_title": "第{0}张幻灯片：{1}",
    "notes": "演讲备注",
    "comment": "批注",
    "comment_by": "{0}的批注",
    "footnote": "脚注",
    "caption": "图注",
    "mail": "{0}的邮件",
    "mail_to": "{0}致{1}的邮件",
    "mail_on": "，{0}",
    "mail_about": "，主题“{0}”",
    "titled": "“{0}”",
    "quoted": "引用",
    "colon": "：",
    "comma": "，",
    "semicolon": "；",
    "equals": " = ",
    "and": "{0}和{1}",
    "speaker_at": "{0}（{1}）",
    "rows_columns": "{0}：{1}行，列 {2}",
    "for_example": "例如 {0}",
    "talk": "{0}谈到{1}",
    "talk_alone": "{0}谈到{1}",
}


def phrase(language: str, name: str, *values: object) -> str:
    """Return a label in a language, with its values filled in."""
    return (_CHINESE if language == "zh" else _ENGLISH)[name].format(*values)


def say_list(names: tuple[str, ...], language: str, most: int = 4) -> str:
    """Return "Alice, Bob and Carol"; beyond ``most`` names the rest is left out."""
    shown, comma = names[:most], "、" if language == "zh" else ", "
    if len(names) > most:
        return comma.join(shown) + ("等" if language == "zh" else " and others")
    if len(shown) < 2:
        return "".join(shown)
    return phrase(language, "and", comma.join(shown[:-1]), shown[-1])


def say_day(moment: datetime, language: str) -> str:
    """Return a day as a person writes it: "12 March 2024", "2024年3月12日"."""
    if language == "zh":
        return f"{moment.year}年{moment.month}月{moment.day}日"
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def say_span(span: TimeSpan, language: str) -> str:
    """Return a resolved time as a person writes it, as exact as it is."""
    start, last = span.start, span.end - timedelta(seconds=1)
    chinese = language == "zh"
    match span.granularity:
        case Granularity.MINUTE:
            return say_day(start, language) + f" {start:%H:%M}"
        case Granularity.YEAR if start.month == 1 and start.day == 1:
            years = f"{start.year}" if start.year == last.year else f"{start.year}–{last.year}"
            return years + ("年" if chinese else "")
        case Granularity.QUARTER if start.day == 1 and (last - start).days < 93:
            quarter = (start.month + 2) // 3
            return f"{start.year}年第{quarter}季度" if chinese else f"Q{quarter} {start.year}"
        case Granularity.MONTH if start.day == 1 and (last - start).days < 31:
            return f"{start.year}年{start.month}月" if chinese else f"{_MONTHS[start.month - 1]} {start.year}"
    if start.date() == last.date():
        return say_day(start, language)
    return _say_range(start, last, language)


def _say_range(start: datetime, last: datetime, language: str) -> str:
    if (start.year, start.month) != (last.year, last.month):
        return f"{say_day(start, language)} – {say_day(last, language)}"
    if language == "zh":
        return f"{say_day(start, language)[:-1]}–{last.day}日"
    return f"{start.day}–{say_day(last, language)}"
