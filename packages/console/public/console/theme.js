// Before the first paint: the colors that were chosen in this browser, and the frame that the page will have. Without a
// choice the colors of the system hold.
const root = document.documentElement;
const isPage = !/^\/(login|sign-in|invite)(\/|$)/.test(location.pathname);
root.dataset.frame = isPage ? "wide" : "none";
try {
  const theme = localStorage.getItem("moorage.theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  if (isPage && localStorage.getItem("moorage.narrow") === "1") root.dataset.frame = "narrow";
} catch {
  // Storage may be blocked; the system's colors hold.
}
