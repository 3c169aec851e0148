// What a server says may contain characters that move a terminal's cursor, rename its window or hide text.

// C0 and C1 controls, the marks that turn text's direction, and characters that end lines.
// eslint-disable-next-line no-control-regex -- they are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text from elsewhere as one line of ASCII of at most 500 characters. */
export function plain(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 500);
}

/** A text from elsewhere in one line, in any script: breaks and tabs are blanks, other controls `?`. */
export function printable(text: string): string {
  return text.replace(/[\t\n\r\u2028\u2029]+/g, " ").replace(CONTROLS, "?");
}

/** A text from elsewhere with its lines and tabs; other controls are `?`. */
export function printableLines(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(CONTROLS, (found) => (found === "\n" || found === "\t" ? found : "?"));
}

/** JSON as it came, with the controls that may stand in its texts as escapes: it means the same. */
export function escapeJson(json: string): string {
  return json.replace(CONTROLS, (found) => (found < " " ? found : escapeControls(found)));
}

/** A JSON or YAML document with its controls as escapes, where only quoted strings have any: it means the same. */
export function escapeControls(document: string): string {
  return document.replace(CONTROLS, (found) =>
    found === "\n" ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
