import { readStored, store } from "../lib/storage.ts";

/** The colors of the console: those of the system, or a choice that this browser remembers. */
export type Theme = "system" | "light" | "dark";

const KEY = "theme";

/** The theme that was chosen. public/console/theme.js reads the same before the first paint. */
export function readTheme(): Theme {
  const theme = readStored(KEY);
  return theme === "light" || theme === "dark" ? theme : "system";
}

/** Shows the theme, and remembers it where the browser lets it. */
export function setTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  store(KEY, theme === "system" ? undefined : theme);
}
