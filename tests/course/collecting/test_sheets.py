"""Times and identities from Moodle's grading worksheet and Canvas's submissions."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from course.collecting import sheets
from course.collecting.sheets import SheetRow
from course.settings import CourseError

BERLIN = ZoneInfo("Europe/Berlin")
WHEN = datetime(2026, 11, 19, 21, 15)  # 22:15 in Berlin
ENGLISH = (
    "Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
)
GERMAN = (
    'ID,"Vollständiger Name",Matrikelnummer,E-Mail-Adresse,Status,Bewertung,Bestwertung,'
    '"Bewertung kann geändert werden","Zuletzt geändert (Abgabe)","Texteingabe online",'
    '"Zuletzt geändert (Bewertung)","Feedback als Kommentar"\n'
)


def sheet(tmp_path, text, zone=BERLIN, encoding="utf-8"):
    (tmp_path / "sheet.csv").write_text(text, encoding=encoding)
    return sheets.read(tmp_path / "sheet.csv", zone)


def test_moodles_worksheet_in_english(tmp_path):
    rows = (
        'Participant 4711,"Anna Müller",007,am@x.example,"Submitted for grading",,29.00,Yes,'
        '"Thursday, 19 November 2026, 10:15 PM",-,\n'
        'Participant 12,Ben B,,,"No submission",,29.00,Yes,-,-,"a line\nand another"\n'
    )
    assert sheet(tmp_path, ENGLISH + rows) == [
        SheetRow("4711", "007", "Anna Müller", "am@x.example", WHEN),
        SheetRow("12", None, "Ben B", None, None),
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252"])
def test_moodles_worksheet_in_german_saved_by_excel(tmp_path, encoding):
    row = (
        'Teilnehmer/in4711,"Anna Müller",007,am@x.example,"Zur Bewertung abgegeben",,29,Ja,'
        '"Donnerstag, 19. November 2026, 22:15",,-,\n'
    )
    text = (GERMAN + row).replace(", 19. November 2026, ", " 19. November 2026 ").replace(",", ";")
    (one,) = sheet(tmp_path, text, encoding=encoding)
    assert one == SheetRow("4711", "007", "Anna Müller", "am@x.example", WHEN)


@pytest.mark.parametrize(
    "header",
    [
        "Identifiant;Nom complet;Adresse de courriel;Statut;Note;Note maximale;"
        "La note peut être modifiée;Dernière modification (travail remis);"
        "Dernière modification (note)",
        "Identificador;Nombre completo;Dirección de correo;Estatus;Calificación;"
        "Calificación máxima;La calificación puede cambiarse;Última modificación (entrega);"
        "Última modificación (calificación)",
    ],
    ids=["French", "Spanish"],
)
def test_moodles_worksheet_in_other_languages(tmp_path, header):
    row = "Participant4711;Anna Müller;am@x.example;-;;29,00;Oui;2026-11-19 22:15;-"
    (one,) = sheet(tmp_path, f"{header}\n{row}\n")
    assert one == SheetRow("4711", None, "Anna Müller", "am@x.example", WHEN)


def test_moodles_worksheet_with_blind_marking_has_only_numbers(tmp_path):
    header = "Identifier,Status,Grade,Last modified (submission),Last modified (grade)\n"
    (one,) = sheet(tmp_path, header + "Participant 4711,,,2026-11-19T22:15,-\n")
    assert one == SheetRow("4711", None, None, None, WHEN)


def test_canvas_submissions(tmp_path):
    header = "user_id,sis_user_id,name,submitted_at,late,seconds_late\n"
    rows = '41,007,"Müller, Anna",2026-11-19T21:15:00Z,false,0\n42,,Ben,,false,0\n'
    found = sheet(tmp_path, header + rows, zone=None)
    anna = SheetRow("41", "007", "Müller, Anna", None, WHEN)
    assert found == [anna, SheetRow("42", None, "Ben", None, None)]


HEADER = "Identifier,Last modified (submission),Last modified (grade)\n"


@pytest.mark.parametrize(
    ("text", "when"),
    [
        *dict.fromkeys(
            (
                "Thursday, 19 November 2026, 10:15 PM",
                "Thursday, November 19, 2026, 10:15\u202fPM",
                "Donnerstag, 19. November 2026, 22:15",
                "jeudi 19 novembre 2026, 22:15",
                "jeudi 19 novembre 2026 à 22h15",
                "jueves, 19 de noviembre de 2026, 22:15",
                "jueves, 19 de noviembre de 2026, 10:15 p. m.",
                "19.11.2026 22:15",
                "19.11.2026, 22:15:00",
                "2026-11-19 22:15",
                "2026-11-19 21:15:00 UTC",
                "2026-11-19T21:15:00Z",
                "2026-11-19T23:15:00+02:00",
            ),
            WHEN,
        ).items(),
        ("Friday, 4 December 2026, 12:05 AM", datetime(2026, 12, 3, 23, 5)),
        ("Friday, 4 December 2026, 12:05 PM", datetime(2026, 12, 4, 11, 5)),
        ("Friday, 4 December 2026, 1:05 PM", datetime(2026, 12, 4, 12, 5)),
        ("Friday, 4 December 2026, 9:05", datetime(2026, 12, 4, 8, 5)),
        ("2026-10-25 02:30", datetime(2026, 10, 25, 0, 30)),  # shown twice: the first, in summer
    ],
)
def test_a_time_is_read_in_each_language_and_on_each_clock(tmp_path, text, when):
    (one,) = sheet(tmp_path, f'{HEADER}Participant 1,"{text}",-\n')
    assert one.handed_in == when


def test_every_month_of_each_language_is_known_without_contradiction():
    months = sheets._months()
    for name, number in {"jänner": 1, "märz": 3, "août": 8, "diciembre": 12, "mei": 5}.items():
        assert months[name] == number
    assert len(months) > 60


@pytest.mark.parametrize(
    ("text", "zone", "complaint"),
    [
        ("Thursday, 19 November 2026, 10:15 PM", None, "line 2.*no time zone.*--zone Europe/Berl"),
        ("11/12/2026 10:15", BERLIN, "line 2: 11/12/2026 10:15 is not a time"),
        ("Thursday, 31 November 2026, 10:15", BERLIN, "is not a time that can be read here"),
        ("yesterday", BERLIN, "is not a time that can be read here"),
    ],
)
def test_a_time_that_is_not_certain_is_not_guessed(tmp_path, text, zone, complaint):
    with pytest.raises(CourseError, match=complaint):
        sheet(tmp_path, f'{HEADER}Participant 1,"{text}",-\n', zone)


def test_another_file_is_refused_with_the_columns_found_and_wanted(tmp_path):
    with pytest.raises(CourseError, match=r"user_id and submitted_at.*columns are: id, colour"):
        sheet(tmp_path, "id,colour\n1,red\n")
