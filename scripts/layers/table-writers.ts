// Which area writes which table: each table belongs to the area whose `tables.ts` declares it, and only that area
// inserts, updates or deletes its rows.

/** The files of all packages of the server by their paths below src, without comments. */
export type Sources = ReadonlyMap<string, string>;

/** A place that writes a table. */
interface Write {
  file: string;
  table: string;
}

// Migrations are the history of all tables, from before they had owners.
const HISTORY = "store/migrations.ts";

/** The text without comments. */
export function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
}

/** The tables that a file adds to the interface Tables, as Prettier formats it. */
function columnsIn(text: string): string[] {
  const found = /^( *)(?:export )?interface Tables \{\n([\s\S]*?)^\1\}/m.exec(text);
  if (found === null) return [];
  const [, indent = "", body = ""] = found;
  const member = new RegExp(`^ {${indent.length + 2}}(\\w+): \\{`, "gm");
  return [...body.matchAll(member)].map(([, table = ""]) => table);
}

/** The file that declares each table. */
function ownersOf(sources: Sources): Map<string, string> {
  return new Map([...sources].flatMap(([file, text]) => columnsIn(text).map((table) => [table, file] as const)));
}

/** All writes, by the query builder or by SQL, also those by functions that are given the name of a table. */
function writesOf(sources: Sources, tables: ReadonlySet<string>): Write[] {
  const found: Write[] = [];
  const note = (file: string, table: string | undefined): void => {
    if (table === undefined || !tables.has(table)) return;
    if (!found.some((write) => write.file === file && write.table === table)) found.push({ file, table });
  };
  const generic = new Set<string>();
  for (const [file, text] of sources) {
    if (file === HISTORY) continue;
    for (const [, table] of text.matchAll(BY_BUILDER)) note(file, table);
    for (const [, table] of text.matchAll(BY_SQL)) note(file, table);
    if (!WRITES_A_VARIABLE.test(text)) continue;
    // Which of them the variable stands for is not read: each table that the file names may be.
    const named = [...text.replaceAll(READ, "").matchAll(NAME)]
      .map(([, name = ""]) => name)
      .filter((name) => tables.has(name));
    for (const table of named) note(file, table);
    if (named.length === 0) for (const [, name = ""] of text.matchAll(EXPORTED_FUNCTION)) generic.add(name);
  }
  for (const [file, text] of sources)
    for (const name of generic)
      for (const given of argumentsOf(text, name)) for (const [, table] of given.matchAll(NAME)) note(file, table);
  return found;
}

const BY_BUILDER = /\.(?:insertInto|replaceInto|mergeInto|updateTable|deleteFrom)\(\s*["'](\w+)/g;
const BY_SQL = /\b(?:(?:insert|replace)(?:\s+or\s+\w+)?\s+into|delete\s+from|update)\s+"?(\w+)"?/gi;
const WRITES_A_VARIABLE =
  /\.(?:insertInto|replaceInto|mergeInto|updateTable|deleteFrom)\(\s*[^"'\s)]|\b(?:insert into|delete from|update) \$\{/i;
const READ = /<[^<>]*>|\.(?:selectFrom|\w+Join|from)\(\s*["']\w+/g;
const NAME = /["'](\w+)["']/g;
const EXPORTED_FUNCTION = /^export (?:async )?function\*? (\w+)/gm;

/** What the function of that name is called with, each time that it is. */
function* argumentsOf(text: string, name: string): Generator<string> {
  for (let at = text.indexOf(`${name}(`); at >= 0; at = text.indexOf(`${name}(`, at + 1)) {
    if (/\w/.test(text.charAt(at - 1))) continue;
    const from = at + name.length + 1;
    let [end, depth] = [from, 1];
    for (; end < text.length && depth > 0; end += 1) depth += { "(": 1, ")": -1 }[text.charAt(end)] ?? 0;
    yield text.slice(from, end);
  }
}

/** The area of a file: its folder, or the file itself. */
function areaOf(file: string): string {
  const cut = file.indexOf("/");
  return cut < 0 ? file.replace(/\.ts$/, "") : file.slice(0, cut);
}

/** The areas that write each table, in the order of its name. */
export function writersOf(sources: Sources): Map<string, { owner: string; writers: Map<string, string[]> }> {
  const owners = ownersOf(sources);
  const writes = writesOf(sources, new Set(owners.keys()));
  return new Map(
    [...owners]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([table, file]) => {
        const files = writes.filter((write) => write.table === table).map((write) => write.file);
        return [table, { owner: areaOf(file), writers: Map.groupBy(files, areaOf) }];
      }),
  );
}

/** What is wrong with the tables: those that another area than their owner writes, and those that nobody declares. */
export function tableProblems(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [table, { owner, writers }] of writersOf(sources))
    for (const [area, files] of writers)
      if (area !== owner)
        for (const file of files)
          problems.push(`${file} writes the table ${table}, which is ${owner}'s alone to write`);
  for (const [table, file] of ownersOf(sources))
    if (!new RegExp(`declareTables\\(\\{[\\s\\S]*^  ${table}: \\{`, "m").test(sources.get(file) ?? ""))
      if (file !== "store/tables.ts") problems.push(`${file} has the columns of ${table}, and does not declare it`);
  return problems;
}
