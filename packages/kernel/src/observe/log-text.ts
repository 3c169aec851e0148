const LEVELS: Record<number, { name: string; color: number }> = {
  10: { name: "TRACE", color: 90 },
  20: { name: "DEBUG", color: 36 },
  30: { name: "INFO", color: 32 },
  40: { name: "WARN", color: 33 },
  50: { name: "ERROR", color: 31 },
  60: { name: "FATAL", color: 35 },
};
const DIM = 2;
// Control characters, those that format text without being seen (such as U+202E, which turns it around), and
// separators of lines and paragraphs.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const BARE = /^[^\s"=\\\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u;

/**
 * Turns a JSON line of the log into readable text: time (UTC), level, message, `name=value` fields. The stack of an
 * error follows, indented.
 */
export function textLine(json: string, color: boolean): string {
  const {
    time,
    level,
    msg,
    pid: _pid,
    hostname: _hostname,
    err,
    ...fields
  } = JSON.parse(json) as Record<string, unknown>;
  const paint = (text: string, code: number): string => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const { name, color: code } = LEVELS[Number(level)] ?? { name: String(level), color: DIM };
  const parts = [
    paint(new Date(Number(time)).toISOString(), DIM),
    paint(name.padEnd(5), code),
    printable(String(msg ?? "")),
  ];
  for (const [key, value] of Object.entries(fields)) parts.push(`${paint(`${key}=`, DIM)}${fieldText(value)}`);
  const { message, stack } = (typeof err === "object" && err !== null ? err : {}) as {
    message?: unknown;
    stack?: unknown;
  };
  if (err !== undefined) parts.push(`${paint("err=", DIM)}${fieldText(message ?? err)}`);
  const trail =
    typeof stack === "string"
      ? stack
          .split("\n")
          .slice(1)
          .map((line) => `    ${printable(line.trim())}\n`)
          .join("")
      : "";
  return `${parts.join(" ")}\n${trail}`;
}

// Values from requests must not control the reader's terminal, or look like another line or another text.
function printable(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`);
}

function fieldText(value: unknown): string {
  if (typeof value !== "string") return printable(JSON.stringify(value) ?? "");
  return BARE.test(value) ? value : printable(JSON.stringify(value));
}
