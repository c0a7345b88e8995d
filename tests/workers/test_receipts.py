import pytest

from workers.receipts import Receipts, ReceiptsLost


def test_a_message_without_a_task_at_two_looks_was_not_confirmed() -> None:
    receipts = Receipts(lambda: {"a", "b"}, lambda: {"b"})
    receipts.check()
    with pytest.raises(ReceiptsLost, match="1 messages"):
        receipts.check()


def test_messages_of_running_tasks_may_be_held_for_ever() -> None:
    receipts = Receipts(lambda: {"a", "b"}, lambda: {"a", "b"})
    for _ in range(5):
        receipts.check()


def test_a_message_between_arrival_and_its_task_is_left_alone() -> None:
    held, owned = {"a"}, set[str]()
    receipts = Receipts(lambda: held, lambda: owned)
    receipts.check()
    owned.add("a")
    held.add("b")
    receipts.check()
    owned.add("b")
    receipts.check()


def test_to_the_worker_it_is_a_lost_connection() -> None:
    assert issubclass(ReceiptsLost, OSError)
