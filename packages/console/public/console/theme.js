// Before the first paint: the colors that were chosen in this browser. Without a choice those of the system hold.
try {
  const theme = localStorage.getItem("moorage.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be blocked; the system's colors hold.
}
