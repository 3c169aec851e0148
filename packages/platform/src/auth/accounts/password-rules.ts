/** How many characters a password has. Source: NIST SP 800-63B-4 §3.1.1.2. */
const MIN_PASSWORD_CHARS = 12;
const MAX_PASSWORD_CHARS = 256;

// Letters in place of which people write digits and signs.
const LOOKALIKES: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "l",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "!": "i",
};
const ROWS = [
  "abcdefghijklmnopqrstuvwxyz",
  "01234567890123456789",
  "qwertyuiopasdfghjklzxcvbnm",
  "qwertzuiopasdfghjklyxcvbnm",
  "1qaz2wsx3edc4rfv5tgb6yhn7ujm",
];

/**
 * What is wrong with a new password, in words that follow "the password"; undefined for nothing. `names`: what belongs
 * to the person, such as the account's name, and to the installation.
 */
export async function passwordFault(password: string, names: readonly string[]): Promise<string | undefined> {
  const chars = [...password.normalize("NFKC")];
  if (chars.length < MIN_PASSWORD_CHARS) return `must have at least ${MIN_PASSWORD_CHARS} characters`;
  if (chars.length > MAX_PASSWORD_CHARS) return `must have at most ${MAX_PASSWORD_CHARS} characters`;
  const text = chars.join("").toLowerCase();
  const unit = shortestUnit(text);
  if (unit.length < MIN_PASSWORD_CHARS / 2 || new Set(text).size < 5) return "must not repeat a few characters";
  const isKnown = await commonPasswords();
  const written = [...text].map((char) => LOOKALIKES[char] ?? char).join("");
  // What is left without the digits and signs that people put around a word.
  const cores = [text, unit, written, coreOf(text), coreOf(unit), coreOf(written)].filter((core) => core.length > 3);
  if (ROWS.some((row) => cores.some((core) => isRun(core, row)))) return "must not be a row of the keyboard";
  const own = names.flatMap(partsOf);
  if (own.some((name) => cores.some((core) => core === name || (text.includes(name) && text.length - name.length < 8))))
    return "must not be made of the name of the account, the organization or the server";
  if (cores.some((core) => isKnown(core) && text.length - core.length < 8))
    return "is among the first that are guessed";
  return undefined;
}

/** The text that, repeated, makes up the whole; the whole itself where there is none. */
function shortestUnit(text: string): string {
  const at = `${text}${text}`.indexOf(text, 1);
  return text.slice(0, at);
}

/** The text without what is no letter at its begin and its end. */
function coreOf(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && !isLetter(text.charCodeAt(from))) from += 1;
  while (to > from && !isLetter(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || code > 0x7f;
}

function isRun(text: string, row: string): boolean {
  return row.includes(text) || [...row].toReversed().join("").includes(text);
}

/** A name and what stands before its @, without those that are too short to matter. */
function partsOf(name: string): string[] {
  const text = name.toLowerCase();
  return [...new Set([text, text.split("@", 1)[0] ?? ""])].filter((part) => part.length > 3);
}

let loading: Promise<(text: string) => boolean> | undefined;

/** Whether a text is among the passwords that are found most often in what was stolen elsewhere: some 49,000. */
function commonPasswords(): Promise<(text: string) => boolean> {
  loading ??= import("@zxcvbn-ts/language-common").then(({ dictionary }) => {
    const known = new Set<string>(dictionary["passwords-common"] as Iterable<string>);
    return (text) => known.has(text);
  });
  return loading;
}
