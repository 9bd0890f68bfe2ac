const query = document.getElementById("query");
const answer = document.getElementById("answer");
async function run() {
  const token = document.getElementById("token").value.trim();
  answer.textContent = "…";
  try {
    const response = await fetch("/graphql", { method: "POST", headers: { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) }, body: JSON.stringify({ query: query.value }) });
    answer.textContent = JSON.stringify(await response.json(), null, 2);
  } catch (error) {
    answer.textContent = `The service cannot be reached: ${error.message}`;
  }
}
document.getElementById("run").addEventListener("click", run);
query.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run(); });
