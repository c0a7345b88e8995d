"""Make the sample files that `strata demo` reads: our own texts, one small world, English and Chinese.

Run from the checkout: ``python tests/samples/make.py``. The files are committed; this says where they come from.
"""

from __future__ import annotations

import csv
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path

import docx
import openpyxl
import pptx
import pymupdf
from PIL import Image, ImageDraw, ImageFont

FOLDER = Path(__file__).parent.parent.parent / "api" / "samples"

MEETING = """WEBVTT

NOTE Recording started 2026-03-12T10:00:00+01:00

00:00:04.000 --> 00:00:09.500
<v Alice Meyer>Good morning everyone. Two topics today: the Atlas release and the support rota.

00:00:10.000 --> 00:00:18.000
<v Ben Okafor>The index migration finished last night, one point two million records, and nothing was lost.

00:00:18.500 --> 00:00:27.000
<v Ben Okafor>What still worries me is the security review. The auditors can only start in the middle of June.

00:00:28.000 --> 00:00:33.000
<v Chiara Rossi>Then the end of June is not realistic. We would ship without their report.

00:00:34.000 --> 00:00:37.500
<v Alice Meyer>I don't want to ship without it. Are there objections to moving the date?

00:00:38.000 --> 00:00:40.000
<v Chiara Rossi>No, none.

00:00:41.000 --> 00:00:51.000
<v Alice Meyer>So we decided to move the Q2 deadline from June 30 to July 14, and the feature freeze stays on May 29.

00:00:52.000 --> 00:00:58.000
<v Ben Okafor>I will tell the auditors today and book them from June 15 to June 26.

00:00:59.000 --> 00:01:07.000
<v Chiara Rossi>And I will update the roadmap slides and write to the pilot customers by Friday.

00:01:30.000 --> 00:01:38.000
<v Alice Meyer>Second topic, the support rota. Since February we have had eleven tickets outside office hours.

00:01:39.000 --> 00:01:47.000
<v Dmitri Novak>I propose that one person is on call each week, starting on April 6, with a day off afterwards.

00:01:48.000 --> 00:01:53.000
<v Alice Meyer>Agreed. Dmitri makes the plan and sends it around before March 20.
"""

MEETING_ZH = """WEBVTT

NOTE 会议开始于 2026-03-18T14:00:00+08:00

00:00:03.000 --> 00:00:09.000
<v 王芳>大家下午好，今天主要讨论客户门户的上线时间和数据库扩容。

00:00:10.000 --> 00:00:17.000
<v 李强>压力测试昨天完成了，峰值每秒三千二百个请求，没有出现错误。

00:00:18.000 --> 00:00:25.000
<v 赵敏>短信供应商的合同还没有签，法务部说最快要到四月十日。

00:00:26.000 --> 00:00:35.000
<v 王芳>那我们决定把客户门户的上线时间推迟到4月22日，由赵敏通知所有试点客户。

00:00:36.000 --> 00:00:43.000
<v 李强>数据库扩容到2TB，费用大约一万二千元，我月底之前完成。

00:00:44.000 --> 00:00:47.000
<v 王芳>同意，预算从三季度的运维费用里出。
"""

HANDBOOK = """---
title: Atlas operations handbook
author: Dmitri Novak
date: 2026-02-20
---

# Atlas operations handbook

## Backups

Full backups run every night at 02:30 UTC and are kept for 35 days.
Incremental backups run every 15 minutes and are kept for 72 hours.

A restore is rehearsed on the first Tuesday of each month. The last rehearsal took 41 minutes.

## Incidents

1. Whoever sees it first opens a channel named `inc-` plus the date.
2. The on-call engineer becomes incident lead.
3. A severity 1 incident is reported to customers within 30 minutes.

| Severity | Meaning | First answer |
|---|---|---|
| 1 | Service down | 15 minutes |
| 2 | Degraded | 1 hour |
| 3 | Cosmetic | 2 working days |
"""

NOTES = """Notes from the visit to the Rotterdam data centre, 3 February 2026

The new racks are in hall B, rows 14 to 17. Each rack has two 32 A feeds and a badge reader.
Access needs a passport and a visit number; the number for Northlight is NL-4471.

Cooling: the hall is kept at 24 degrees. The operator announced maintenance of chiller 2 on 9 May 2026
between 22:00 and 04:00; no interruption is expected.

Open point: the spare parts cabinet has no replacement for the Mellanox SN2010 switch. Ben orders two.
"""

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Atlas 3.0 release notes</title>
<meta name="author" content="Chiara Rossi"><meta name="date" content="2026-03-02">
<script>console.log("never read");</script><style>body { margin: 2em }</style></head>
<body>
<h1>Atlas 3.0 release notes</h1>
<p>Atlas 3.0 introduces layered search, shared folders and a new permission model.</p>
<h2>Breaking changes</h2>
<ul>
<li>The <code>/v1/query</code> endpoint is removed; use <code>/v2/search</code>.</li>
<li>API tokens created before 2025-07-01 stop working on 1 September 2026.</li>
</ul>
<h2>Limits</h2>
<table>
<tr><th>Plan</th><th>Documents</th><th>Seats</th></tr>
<tr><td>Starter</td><td>10,000</td><td>5</td></tr>
<tr><td>Team</td><td>250,000</td><td>40</td></tr>
</table>
</body></html>
"""

CUSTOMERS = [
    ["Customer", "City", "Plan", "Seats", "Renewal", "Contact"],
    ["Harbour Logistics", "Hamburg", "Team", "38", "2026-09-30", "Ines Vogel"],
    ["Meridian Clinics", "Lyon", "Team", "25", "2026-06-15", "Paul Garnier"],
    ["Blue Heron Books", "Bristol", "Starter", "4", "2026-04-01", "Tom Ashdown"],
    ["蓝海物流", "上海", "Team", "40", "2026-12-31", "陈静"],
    ["Polar Instruments", "Tromsø", "Starter", "5", "2026-11-20", "Silje Dahl"],
]

SENSORS = [
    ["time", "room", "temperature_c", "humidity_pct", "remark"],
    ["2026-03-01 06:00", "hall B", "23.9", "41", ""],
    ["2026-03-01 12:00", "hall B", "24.2", "40", ""],
    ["2026-03-01 18:00", "hall B", "27.8", "38", "chiller 2 off for 40 minutes"],
    ["2026-03-02 06:00", "hall B", "24.0", "42", ""],
]


def table(name: str, rows: list[list[str]], delimiter: str) -> None:
    with (FOLDER / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)


def mail() -> None:
    message = EmailMessage()
    message["From"] = "Paul Garnier <paul.garnier@meridian.example>"
    message["To"] = "Chiara Rossi <chiara@northlight.example>"
    message["Cc"] = "support@northlight.example"
    message["Subject"] = "Renewal and the new retention rule"
    message["Date"] = format_datetime(datetime.fromisoformat("2026-03-17T09:24:00+01:00"))
    message["Message-ID"] = "<20260317.0924@meridian.example>"
    message.set_content(
        "Dear Chiara,\n\n"
        "we want to renew for two years, under one condition: patient letters must be deleted after ten years, "
        "and the deletion has to be confirmed in writing.\n\n"
        "Our data protection officer, Dr. Amélie Laurent, asks for a call next Tuesday at 15:00.\n\n"
        "Kind regards\nPaul Garnier\n\n"
        "> On 12 March 2026 Chiara Rossi wrote:\n"
        "> The release moves to July 14, the renewal price stays at 18,400 euros a year.\n"
    )
    message.add_attachment(
        "Retention rule of Meridian Clinics\n\nPatient letters: 10 years. Invoices: 8 years. Call recordings: 14 days.\n",
        subtype="plain",
        filename="retention-rule.txt",
    )
    (FOLDER / "renewal-meridian.eml").write_bytes(bytes(message))


def mail_zh() -> None:
    message = EmailMessage()
    message["From"] = "陈静 <chenjing@lanhai.example>"
    message["To"] = "赵敏 <zhaomin@northlight.example>"
    message["Subject"] = "关于发票和付款期限"
    message["Date"] = format_datetime(datetime.fromisoformat("2026-03-20T16:40:00+08:00"))
    message["Message-ID"] = "<20260320.1640@lanhai.example>"
    message.set_content(
        "赵敏你好：\n\n三月份的发票金额有误，应为人民币86,500元，请在3月27日前重新开具。\n"
        "另外，从四月起付款期限改为四十五天。\n\n谢谢\n陈静\n"
    )
    (FOLDER / "发票更正.eml").write_bytes(bytes(message))


def contract() -> None:
    document = docx.Document()
    document.core_properties.author = "Legal, Northlight"
    document.core_properties.title = "Service agreement Harbour Logistics"
    document.core_properties.created = datetime(2026, 1, 15, 9, 0)
    document.sections[0].header.paragraphs[0].text = "Service agreement 2026-017"
    document.add_heading("Service agreement", 0)
    document.add_paragraph("between Northlight Software and Harbour Logistics, signed on 15 January 2026.")
    document.add_heading("Term and notice", 1)
    document.add_paragraph(
        "The agreement runs for 36 months. Either party may give notice with a period of 90 days to the end of a quarter."
    )
    document.add_heading("Service levels", 1)
    document.add_paragraph("Northlight guarantees an availability of 99.9 percent per calendar month.")
    document.add_paragraph(
        "Below 99.5 percent the customer receives a credit of 20 percent of the monthly fee."
    )
    rows = (("Item", "Monthly fee"), ("Platform, 38 seats", "EUR 1,520"), ("Premium support", "EUR 450"))
    grid = document.add_table(rows=0, cols=2)
    for left, right in rows:
        cells = grid.add_row().cells
        cells[0].text, cells[1].text = left, right
    document.save(str(FOLDER / "service-agreement.docx"))


def contract_zh() -> None:
    document = docx.Document()
    document.core_properties.title = "采购合同补充协议"
    document.core_properties.created = datetime(2026, 3, 5, 10, 0)
    document.add_heading("采购合同补充协议", 0)
    document.add_heading("交付与验收", 1)
    document.add_paragraph(
        "乙方应于2026年5月15日前交付全部二十台服务器。逾期交付的，每日按合同总额的千分之三支付违约金。"
    )
    document.add_heading("质保", 1)
    document.add_paragraph("质保期为验收合格之日起三年，故障响应时间不超过四小时。")
    document.save(str(FOLDER / "采购合同补充协议.docx"))


def budget() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Budget 2026"
    sheet.append(["Item", "Owner", "Q1", "Q2", "Approved on"])
    rows = (
        ("GPU server", "Ben Okafor", 18000, 0, datetime(2026, 2, 11)),
        ("Security audit", "Alice Meyer", 0, 24500, datetime(2026, 3, 12)),
        ("Customer day in Lyon", "Chiara Rossi", 2300, 6900, datetime(2026, 1, 29)),
        ("On-call allowance", "Dmitri Novak", 0, 4800, datetime(2026, 3, 20)),
    )
    for row in rows:
        sheet.append(row)
    for row in sheet.iter_rows(min_row=2, min_col=3, max_col=4):
        for cell in row:
            cell.number_format = "#,##0"
    for row in sheet.iter_rows(min_row=2, min_col=5, max_col=5):
        row[0].number_format = "yyyy-mm-dd"
    people = book.create_sheet("On call")
    people.append(["Week of", "Engineer", "Backup"])
    people.append([datetime(2026, 4, 6), "Dmitri Novak", "Ben Okafor"])
    people.append([datetime(2026, 4, 13), "Ben Okafor", "Chiara Rossi"])
    for row in people.iter_rows(min_row=2, max_col=1):
        row[0].number_format = "yyyy-mm-dd"
    book.properties.creator = "Alice Meyer"
    book.properties.created = datetime(2026, 3, 20, 8, 0)
    book.save(FOLDER / "budget-2026.xlsx")


def roadmap() -> None:
    deck = pptx.Presentation()
    deck.core_properties.author = "Chiara Rossi"
    deck.core_properties.created = datetime(2026, 3, 13, 11, 0)
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text = "Atlas roadmap"
    first.placeholders[1].text = "Northlight, spring 2026"
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text = "Dates"
    second.placeholders[
        1
    ].text = "Feature freeze: May 29\nSecurity review: June 15 to 26\nGeneral availability: July 14"
    second.notes_slide.notes_text_frame.text = "Say clearly that the old date, June 30, is gone."
    third = deck.slides.add_slide(deck.slide_layouts[1])
    third.shapes.title.text = "Risks"
    third.placeholders[
        1
    ].text = "The SMS provider has not signed yet\nOnly one engineer knows the billing module"
    deck.save(str(FOLDER / "roadmap.pptx"))


def report() -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 80), "Penetration test of the Atlas gateway", fontsize=20)
    page.insert_text((72, 110), "Kestrel Security, 27 February 2026", fontsize=11)
    page.insert_text((72, 150), "Summary", fontsize=15)
    page.insert_textbox(
        pymupdf.Rect(72, 160, 520, 320),
        "The gateway was tested from 16 to 20 February 2026. Two findings of high severity and five of low severity "
        "were reported. No customer data was reached.",
        fontsize=11,
    )
    page = document.new_page()
    page.insert_text((72, 80), "Findings", fontsize=15)
    page.insert_textbox(
        pymupdf.Rect(72, 90, 520, 320),
        "H-1: The password reset link stays valid for seven days. It should expire after 30 minutes.\n"
        "H-2: The export service accepts unsigned webhooks. Signatures must be checked before the next release.",
        fontsize=11,
    )
    document.set_metadata({"title": "Penetration test of the Atlas gateway", "author": "Kestrel Security",
                           "creationDate": "D:20260227120000Z"})  # fmt: skip
    document.save(FOLDER / "penetration-test.pdf", deflate=True)


def report_zh() -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 80), "上海机房巡检报告", fontname="china-s", fontsize=20)
    page.insert_textbox(
        pymupdf.Rect(72, 110, 520, 400),
        "巡检日期：2026年2月26日。\n三号机柜的UPS电池容量只剩百分之六十二，建议五月前更换。\n"
        "消防系统检测合格，下次检测时间为2027年2月。",
        fontname="china-s",
        fontsize=12,
    )
    document.subset_fonts()
    document.save(FOLDER / "机房巡检报告.pdf", deflate=True, garbage=4)


def badge() -> None:
    image = Image.new("RGB", (900, 260), "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=40)
    draw.text((40, 40), "VISITOR BADGE", fill="black", font=font)
    draw.text((40, 110), "Visit number NL-4471", fill="black", font=font)
    draw.text((40, 180), "Hall B, valid until 31 May 2026", fill="black", font=font)
    image.save(FOLDER / "visitor-badge.png")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    texts = {
        "2026-03-12 Atlas planning.vtt": MEETING,
        "2026-03-18 产品周会.vtt": MEETING_ZH,
        "operations-handbook.md": HANDBOOK,
        "rotterdam-visit.txt": NOTES,
        "release-notes.html": PAGE,
    }
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    table("customers.csv", CUSTOMERS, ",")
    table("sensors.tsv", SENSORS, "\t")
    for make in (mail, mail_zh, contract, contract_zh, budget, roadmap, report, report_zh, badge):
        make()


if __name__ == "__main__":
    main()
