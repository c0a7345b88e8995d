"""Dates in Chinese words, and the Japanese ones that are written alike."""

from __future__ import annotations

import re

from extract.dates.calendar import (
    Reference,
    Rule,
    date,
    days,
    full_year,
    half,
    months,
    nearest,
    number,
    quarter,
    shifted,
    stretch,
    weekday,
    yearless,
    years,
)
from extract.dates.english import directed_weekday
from extract.dates.numeric import nearest_quarter
from extract.model import TimeSpan

_N = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_FULL_YEAR = r"(?:\d{4}|[〇零一二三四五六七八九]{4})\s*年(?:度)?"
_YEARS = {
    "大前年": -3,
    "前年": -2,
    "去年": -1,
    "昨年": -1,
    "上年": -1,
    "今年": 0,
    "本年": 0,
    "本年度": 0,
    "明年": 1,
    "来年": 1,
    "后年": 2,
}
_YEAR_WORDS = "|".join(sorted(_YEARS, key=len, reverse=True))
_YEAR_PART = rf"(?:({_FULL_YEAR}|{_YEAR_WORDS})的?\s*)?"
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

# Days of the lunar calendar and of "the same year" are told against something else than the source's date.
_NOT_AFTER = r"(?<![历曆])(?<![历曆]的)(?<![同当當次翌]年)(?<![\d一二三四五六七八九十])"
_DATE = re.compile(
    rf"{_NOT_AFTER}{_YEAR_PART}({_N})\s*月\s*(?:份的?)?({_N})\s*(?:日|号|號)?"
    rf"(?:\s*(?:[-–—~～至到]|から)\s*({_N})\s*(?=日|号|號))?(?:日|号|號)?"
)
_RELATIVE_MONTH = re.compile(
    rf"(上上个?月|上个?月|下下个?月|下个?月|本月|这个?月|這個月|先月|来月|今月|来月)(?:的?({_N})\s*(?:日|号|號))?"
)
_MONTH = re.compile(rf"{_NOT_AFTER}{_YEAR_PART}(?<![\d第])({_N})\s*月(?:份)?(?![\d个])")
_QUARTER = re.compile(rf"{_YEAR_PART}第?([一二三四1-4])\s*季度?(?![节])")
_RELATIVE_QUARTER = re.compile(r"(上|本|这|這|下)(?:个|個|一)?季度")
_HALF = re.compile(rf"{_YEAR_PART}(上|下)半年")
_YEAR = re.compile(rf"(?<![\d一二三四五六七八九〇零])({_FULL_YEAR}|{_YEAR_WORDS})(?:年?(?:底|末|初))?")
_YEAR_END = re.compile(r"(?<![一-鿿\d])(年底|年末|年初)")
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
_BARE_DAY = re.compile(rf"(?<![\d月第一二三四五六七八九十./\-])({_N})\s*[号號](?![\d线楼门馆机院文])")


def _year_of(words: str | None, reference: Reference) -> int | None:
    if words is None:
        return None
    if words in _YEARS:
        return reference.today.year + _YEARS[words] if reference.today else None
    return full_year(words.split("年")[0])


def _date(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    year_words, month, day, last = found.groups()
    if not found.group().endswith(("日", "号", "號")) and year_words is None:
        return None
    month_number, day_number, last_day = number(month), number(day), number(last) if last else None
    if month_number is None or day_number is None or not 1 <= month_number <= 12:
        return None
    if year_words is None:
        return yearless(month_number, day_number, reference, last_day)
    year = _year_of(year_words, reference)
    return date(year, month_number, day_number, reference.zone, last_day) if year else None


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


def _month(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    year_words, month = found.groups()
    value, today = number(month), reference.today
    if value is None or not 1 <= value <= 12:
        return None
    if year_words:
        year = _year_of(year_words, reference)
        return months(year, value, reference.zone) if year else None
    if today is None:
        return None
    return nearest(
        (months(today.year + shift, value, reference.zone) for shift in (-1, 0, 1)), today.replace(day=1)
    )


def _quarter(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    year_words, which = found.groups()
    wanted = number(which)
    if wanted is None or (not found.group().endswith("季度") and "第" not in found.group()):
        return None
    if year_words is None:
        return nearest_quarter(wanted, reference)
    year = _year_of(year_words, reference)
    return quarter(year, wanted, reference.zone) if year else None


def _relative_quarter(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    return (
        shifted(reference.today, {"上": -1, "下": 1}.get(found.group(1), 0), "quarter")
        if reference.today
        else None
    )


def _half(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    year_words, which = found.groups()
    year = _year_of(year_words, reference) if year_words else reference.today and reference.today.year
    return half(year, 1 if which == "上" else 2, reference.zone) if year else None


def _year(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    year = _year_of(found.group(1), reference)
    if year is None:
        return None
    if found.group().endswith(("底", "末")):
        return months(year, 12, reference.zone)
    return months(year, 1, reference.zone) if found.group().endswith("初") else years(year, reference.zone)


def _year_end(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    today = reference.today
    return months(today.year, 1 if found.group() == "年初" else 12, reference.zone) if today else None


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


def _bare_day(found: re.Match[str], reference: Reference) -> TimeSpan | None:
    today, day = reference.today, number(found.group(1))
    if today is None or day is None:
        return None
    return nearest(
        (
            date(span.start.year, span.start.month, day, reference.zone)
            for shift in (-1, 0, 1)
            if (span := shifted(today, shift, "month"))
        ),
        today,
    )


RULES: tuple[Rule, ...] = (
    (_DATE, _date), (_RELATIVE_MONTH, _relative_month), (_MONTH, _month), (_QUARTER, _quarter),
    (_RELATIVE_QUARTER, _relative_quarter), (_HALF, _half), (_YEAR, _year), (_YEAR_END, _year_end),
    (_DAY, _day), (_WEEK, _week), (_JAPANESE_WEEK, _japanese_week), (_BARE_WEEKDAY, _bare_weekday),
    (_AGO, _ago), (_HALF_AGO, _half_ago), (_SPAN, _span), (_BARE_DAY, _bare_day),
)  # fmt: skip
