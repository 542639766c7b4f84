"""Small benchmarks in the published formats, with invented sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Nora",
            "speaker_b": "Ivo",
            "session_2_date_time": "9:05 am on 12 June, 2023",
            "session_2": [
                {"speaker": "Ivo", "dia_id": "D2:1", "text": "My violin teacher is from Lisbon."},
                {"speaker": "Nora", "dia_id": "D2:2", "text": "The cat broke my blue teapot."},
            ],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Nora", "dia_id": "D1:1", "text": "I adopted a cat named Pepper."},
                {"speaker": "Ivo", "dia_id": "D1:2", "text": "My violin lessons begin Thursday."},
                {
                    "speaker": "Nora",
                    "dia_id": "D1:3",
                    "text": "Here she sleeps.",
                    "blip_caption": "a grey cat on a red sofa",
                },
            ],
            "session_3_date_time": "7:30 pm on 1 July, 2023",
        },
        "qa": [
            {"question": "What is Nora's cat named?", "evidence": ["D1:1"], "category": 4},
            {"question": "Ivo's violin lessons?", "evidence": ["D1:2; D2:01"], "category": 1},
            {"question": "What did Ivo's cat break?", "evidence": ["D2:2"], "category": 5},
            {"question": "Would Nora like a dog?", "evidence": [], "category": 3},
        ],
    }
]

BEAM_CHAT: list[dict[str, Any]] = [
    {
        "batch_number": 1,
        "turns": [
            [
                {
                    "role": "user",
                    "id": 0,
                    "time_anchor": "March-15-2024",
                    "content": "I keep bees behind the barn. ->-> 1,1",
                },
                {"role": "assistant", "id": 1, "content": "How many hives do you have?"},
            ],
            [{"role": "user", "id": 2, "content": "Seven hives since April. ->-> 1,2"}],
        ],
    },
    {"batch_number": 2, "turns": [[{"role": "user", "id": 3, "content": "Now nine hives."}]]},
]
BEAM_QUESTIONS: dict[str, Any] = {
    "abstention": [{"question": "Which colour is the barn?"}],
    "knowledge_update": [
        {
            "question": "How many hives are there?",
            "source_chat_ids": {"original_info": [2], "updated_info": ["3"]},
        }
    ],
    "information_extraction": [
        {"question": "Where are the bees kept?", "source_chat_ids": [0, 99]},
    ],
}

LONGMEMEVAL: list[dict[str, Any]] = [
    {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Which instrument did I buy?",
        "answer": "a cello",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["filler_1", "answer_1", "filler_1"],
        "haystack_dates": [
            "2023/05/20 (Sat) 02:21",
            "2023/05/21 (Sun) 10:00",
            "2023/05/22 (Mon) 11:00",
        ],
        "haystack_sessions": [
            [
                {"role": "user", "content": "How long do eggs boil?"},
                {"role": "assistant", "content": "Eight minutes."},
            ],
            [
                {"role": "user", "content": "I bought a cello today.", "has_answer": True},
                {"role": "assistant", "content": " ", "has_answer": False},
                {"role": "user", "content": "Which bow suits it?", "has_answer": False},
            ],
            [{"role": "user", "content": "How long do eggs boil?"}],
        ],
        "answer_session_ids": ["answer_1"],
    },
    {
        "question_id": "q2_abs",
        "question_type": "single-session-user",
        "question": "Which flute did I buy?",
        "answer": "You never said so.",
        "question_date": "2023/06/01 (Thu) 08:00",
        "haystack_session_ids": ["answer_2_abs"],
        "haystack_dates": ["2023/05/21 (Sun) 10:00"],
        "haystack_sessions": [[{"role": "user", "content": "I sold my drum."}]],
        "answer_session_ids": ["answer_2_abs"],
    },
]


def write_json(file: Path, value: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value), encoding="utf-8")
    return file


def write_locomo(folder: Path) -> Path:
    return write_json(folder / "locomo" / "locomo10.json", LOCOMO)


def write_beam(folder: Path, number: int = 1) -> Path:
    chat = folder / "beam" / "100K" / str(number)
    write_json(chat / "chat.json", BEAM_CHAT)
    write_json(chat / "probing_questions.json", BEAM_QUESTIONS)
    return chat


def write_longmemeval(folder: Path) -> Path:
    return write_json(folder / "longmemeval_s.json", LONGMEMEVAL)
