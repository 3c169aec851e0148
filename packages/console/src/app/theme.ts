/** The colors of the console: those of the system, or a choice that this browser remembers. */
export type Theme = "system" | "light" | "dark";

const KEY = "moorage.theme";

/** The theme that was chosen. public/console/theme.js reads the same before the first paint. */
export function readTheme(): Theme {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === "light" || theme === "dark" ? theme : "system";
  } catch {
    return "system";
  }
}

/** Shows the theme, and remembers it where the browser lets it. */
export function setTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  try {
    if (theme === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // Storage may be blocked: the choice holds until the page is loaded again.
  }
}
