// The page of an upload on its way: shows its stages as they happen, then what came of it.

interface Submission {
  stage: string | null;
  completed: boolean;
  progress: { done: number; total: number | null; unit: string } | null;
}

const panel = document.getElementById("submission");
if (panel) {
  const stage = document.getElementById("stage")!;
  const count = document.getElementById("count")!;
  const bar = document.getElementById("bar") as HTMLProgressElement;
  const events = new EventSource(`/rocrate/upload/status/${panel.dataset["id"]!}`);
  events.addEventListener("submission", (event) => {
    const submission = JSON.parse((event as MessageEvent<string>).data) as Submission;
    const { progress } = submission;
    stage.textContent = submission.stage ?? "waiting for its turn";
    count.textContent = progress
      ? `${progress.done.toLocaleString("en-US")}${
          progress.total === null ? "" : ` of ${progress.total.toLocaleString("en-US")}`
        } ${progress.unit}`
      : "";
    if (progress?.total) {
      bar.max = progress.total;
      bar.value = progress.done;
    } else bar.removeAttribute("value");
    if (!submission.completed) return;
    events.close();
    location.reload();
  });
}
