"""Relative dates in Chinese words, and the Japanese ones that are written alike."""

from __future__ import annotations

import re

from extract.dates.calendar import Reference, Rule, date, days, number, shifted, stretch, weekday
from extract.dates.chinese import NUMERAL
from extract.dates.english import directed_weekday
from extract.model import TimeSpan

_DAYS = {
    "大前天": -3, "前天": -2, "前日": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1, "今天": 0,
    "今日": 0, "今早": 0, "今晨": 0, "今晚": 0, "今夜": 0, "明天": 1, "明日": 1, "明早": 1, "明晚": 1,
    "后天": 2, "後天": 2, "明後日": 2, "大后天": 3, "大後天": 3,
}  # fmt: skip
_WEEKDAYS = {
    char: at
    for at, chars in enumerate(("一1月", "二2火", "三3水", "四4木", "五5金", "六6土", "日天末7"))
    for char in chars
}
_UNITS = {
    "天": "day",
    "日": "day",
    "周": "week",
    "週": "week",
    "星期": "week",
    "礼拜": "week",
    "月": "month",
    "年": "year",
    "季度": "quarter",
}
_COUNT = r"(\d{1,3}|[一二三四五六七八九十两兩]{1,3})\s*个?(天|日|周|週|星期|礼拜|月|年|季度)"
_RELATIVE_MONTH = re.compile(
    rf"(上上个?月|上个?月|下下个?月|下个?月|本月|这个?月|這個月|先月|来月|今月|来月)(?:的?({NUMERAL})\s*(?:日|号|號))?"
)
_RELATIVE_QUARTER = re.compile(r"(上|本|这|這|下)(?:个|個|一)?季度")
_DAY = re.compile("(" + "|".join(sorted(_DAYS, key=len, reverse=True)) + ")")
_WEEK = re.compile(
    r"(上上|上|下下|下|本|这|這)(?:个|個|一)?(?:周|週|星期|礼拜|禮拜)(?:的?([一二三四五六日天末])(?![年月天个]))?"
)
_JAPANESE_WEEK = re.compile(r"(先週|今週|来週|再来週)(?:の)?(?:([月火水木金土日])曜)?")
_BARE_WEEKDAY = re.compile(
    r"(?<![上下本这這每逢一二三四五六七八九十两\d个個])(?:周|週|星期|礼拜|禮拜)([一二三四五六日天])(?![年月天个至到~\-—])"
)
_AGO = re.compile(rf"(?<![第\d.,]){_COUNT}(?:之|以)?(前|后|後)(?!半|期|来|果|续)")
_HALF_AGO = re.compile(r"半(个月|年)(?:之|以)?(前|后|後)")
_SPAN = re.compile(rf"(过去|近|最近|未来|接下来|今后|之前)的?\s*{_COUNT}(?!前|后)")


def _relative_month(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    which, day = found.groups()
    today = reference.today
    if today is None:
        return None
    shift = {"上": -1, "先": -1, "下": 1, "来": 1}.get(which[0], 0) * (
        2 if which[:2] in ("上上", "下下") else 1
    )
    span = shifted(today, shift, "month")
    day_number = number(day) if day else None
    return (
        date(span.start.year, span.start.month, day_number, reference.zone) if span and day_number else span
    )


def _relative_quarter(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    return (
        shifted(reference.today, {"上": -1, "下": 1}.get(found.group(1), 0), "quarter")
        if reference.today
        else None
    )


def _day(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    return shifted(reference.today, _DAYS[found.group()], "day") if reference.today else None


def _week(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    which, day = found.groups()
    shift = {"上": -1, "下": 1}.get(which[0], 0) * (2 if len(which) == 2 else 1)
    return _day_of_week(shift, day, reference)


def _japanese_week(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    which, day = found.groups()
    return _day_of_week({"先": -1, "来": 1, "再": 2}.get(which[0], 0), day, reference)


def _day_of_week(shift: int, day: str | None, reference: Reference) -> TimeSpan | None:
    today = reference.today
    if today is None:
        return None
    if day == "末":
        return days(weekday(today, 5, shift).start, 2)
    return weekday(today, _WEEKDAYS[day], shift) if day else shifted(today, shift, "week")


def _bare_weekday(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    ahead = found.string.startswith(("前", "之前", "以前", "截止"), found.end())
    return directed_weekday(_WEEKDAYS[found.group(1)], 1 if ahead else reference.direction, reference)


def _ago(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    count, unit, where = found.groups()
    value = number(count)
    if value is None or reference.today is None:
        return None
    return shifted(reference.today, -value if where == "前" else value, _UNITS[unit])


def _half_ago(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    unit, where = found.groups()
    sign = -1 if where == "前" else 1
    if reference.today is None:
        return None
    return (
        shifted(reference.today, 6 * sign, "month")
        if unit == "年"
        else shifted(reference.today, 2 * sign, "week")
    )


def _span(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    which, count, unit = found.groups()
    value = number(count)
    if value is None or reference.today is None:
        return None
    return stretch(reference.today, value if which in ("未来", "接下来", "今后") else -value, _UNITS[unit])


RULES: tuple[Rule, ...] = (
    (_RELATIVE_MONTH, _relative_month), (_RELATIVE_QUARTER, _relative_quarter), (_DAY, _day), (_WEEK, _week),
    (_JAPANESE_WEEK, _japanese_week), (_BARE_WEEKDAY, _bare_weekday), (_AGO, _ago), (_HALF_AGO, _half_ago),
    (_SPAN, _span),
)  # fmt: skip
