// Changes settings of a file with sections, such as pip.conf, and of one without, such as .npmrc; all other lines stay
// as they are. Source of the form: Python's configparser, as pip uses it; the npm package ini.
import { broken } from "./file.ts";

/** A setting, and the lines that it takes: `from` is its first line, `to` the one after its last; from 0. */
export interface Setting {
  section: string;
  key: string;
  value: string;
  from: number;
  to: number;
}

/** A file's lines, how each ends, the settings in them, and the line of each section. */
export interface IniFile {
  lines: readonly string[];
  eol: string;
  settings: readonly Setting[];
  sections: ReadonlyMap<string, number>;
}

/** What pip's files and npm's files do not have in common. */
export interface Dialect {
  /** Whether an indented line goes on with the value before it. */
  continues: boolean;
  /** Two spellings of a key are one when they are equal after this. */
  normal(key: string): string;
  /** Whether a file must hold settings and nothing else: what stands in no section, or twice, is an error. */
  strict: boolean;
}

/** pip: names of options in any case, with - or _. */
export const PIP: Dialect = {
  continues: true,
  normal: (key) => key.toLowerCase().replaceAll("_", "-").replace(/^-+/, ""),
  strict: true,
};
/** npm: what it does not understand it skips. */
export const NPM: Dialect = { continues: false, normal: (key) => key, strict: false };

/** Reads a file's text. Throws an Error that names the file and the line that pip would not read. */
export function parseIni(path: string, text: string, { continues, normal, strict }: Dialect): IniFile {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  const settings: Setting[] = [];
  const sections = new Map<string, number>();
  let section = "";
  for (const [at, line] of lines.entries()) {
    if (/^\s*(?:[#;].*)?$/.test(line)) continue;
    const last = settings.at(-1);
    if (continues && /^\s/.test(line) && last !== undefined && last.section === section) {
      last.value = `${last.value}\n${line.trim()}`.trim();
      last.to = at + 1;
      continue;
    }
    const [, head] = /^\s*\[([^\]]+)\]\s*$/.exec(line) ?? [];
    if (head !== undefined) {
      if (strict && sections.has(head)) throw broken(path, `line ${at + 1} begins [${head}] a second time`);
      section = head;
      sections.set(head, at);
      continue;
    }
    const cut = line.search(continues ? /[=:]/ : /=/);
    const [key, value] = cut < 1 ? [undefined, ""] : [line.slice(0, cut).trim(), line.slice(cut + 1)];
    if (strict && section === "") throw broken(path, `line ${at + 1} is in no section`);
    if (key === undefined) {
      if (strict) throw broken(path, `line ${at + 1} is no setting`);
      continue;
    }
    if (strict && settings.some((one) => one.section === section && one.key === normal(key)))
      throw broken(path, `line ${at + 1} sets ${key} a second time`);
    settings.push({ section, key: normal(key), value: value.trim(), from: at, to: at + 1 });
  }
  return { lines, eol, settings, sections };
}

/** The last setting of that key, which is the one that counts. */
export function settingOf({ settings }: IniFile, section: string, key: string): Setting | undefined {
  return settings.findLast((one) => one.section === section && one.key === key);
}

/** The text with a setting, in the place of the old one or at the end of its section; undefined removes it. */
export function withSetting(file: IniFile, section: string, key: string, value: string | undefined): string {
  const lines = [...file.lines];
  const text = `${key}${section === "" ? "=" : " = "}${value ?? ""}`.replaceAll("\n", file.eol);
  const old = file.settings.filter((one) => one.section === section && one.key === key);
  if (old.length > 0) {
    for (const [index, { from, to }] of old.toReversed().entries())
      lines.splice(from, to - from, ...(value !== undefined && index === 0 ? [text] : []));
  } else if (value !== undefined) {
    const head = section === "" ? -1 : file.sections.get(section);
    if (head === undefined) lines.push(...(lines.length > 0 ? [""] : []), `[${section}]`, text);
    else lines.splice(endOf(file, section, head), 0, text);
  }
  return lines.length === 0 ? "" : `${lines.join(file.eol)}${file.eol}`;
}

/** The line after the last setting of a section; without any, the one after its head. */
function endOf({ settings, sections, lines }: IniFile, section: string, head: number): number {
  const last = settings.findLast((one) => one.section === section);
  if (last !== undefined) return last.to;
  if (section !== "") return head + 1;
  // Only comments so far: below them, but above the first section.
  return Math.min(lines.length, ...sections.values());
}
