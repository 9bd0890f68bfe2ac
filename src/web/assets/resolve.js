// Goes straight to the identifier: the resolver's address is the identifier itself.
document.getElementById("resolve").addEventListener("submit", (event) => {
  event.preventDefault();
  const id = document.getElementById("id").value.trim().replace(/^https?:\/\/[^/]+\//, "");
  if (id) location.href = `/${id.split("/").map(encodeURIComponent).join("/").replace(/^ark%3A/i, "ark:")}`;
});
