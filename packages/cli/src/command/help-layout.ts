// How help fits a narrow terminal.
import type { Command, Help } from "commander";

/** The widest terms that have their description beside them; that of a wider one begins on the next line. */
const MAX_TERM_COLUMNS = 26;
const EXAMPLE_COLUMNS = 80;
const INDENT = 2;
const GAP = 2;

/** Two columns, of which neither takes more than its share of the terminal. */
export const helpLayout: Pick<Help, "minWidthToWrap" | "commandUsage" | "padWidth" | "formatItem"> = {
  minWidthToWrap: 20,

  // The other name of a command is in the list of commands.
  commandUsage(command: Command): string {
    const names: string[] = [];
    for (let each: Command | null = command; each !== null; each = each.parent) names.unshift(each.name());
    return `${names.join(" ")} ${command.usage()}`;
  },

  padWidth(command: Command, help: Help): number {
    const terms = [
      ...help.visibleOptions(command).map((option) => help.optionTerm(option)),
      ...help.visibleGlobalOptions(command).map((option) => help.optionTerm(option)),
      ...help.visibleCommands(command).map((subcommand) => help.subcommandTerm(subcommand)),
      ...help.visibleArguments(command).map((argument) => help.argumentTerm(argument)),
    ];
    const widths = terms.map((term) => help.displayWidth(term)).filter((width) => width <= MAX_TERM_COLUMNS);
    return Math.max(0, ...widths);
  },

  formatItem(term: string, termWidth: number, description: string, help: Help): string {
    const indent = " ".repeat(INDENT);
    if (description === "") return indent + term;
    const margin = " ".repeat(INDENT + termWidth + GAP);
    const columns = Math.max(1, (help.helpWidth ?? 80) - margin.length);
    const lines = help.boxWrap(description, columns).replaceAll("\n", `\n${margin}`);
    const width = help.displayWidth(term);
    return width > termWidth
      ? `${indent}${term}\n${margin}${lines}`
      : `${indent}${term}${" ".repeat(termWidth - width + GAP)}${lines}`;
  },
};

/** An example, indented as in help: its flags go on in further lines where it is too wide for a terminal. */
export function foldedExample(example: string): string {
  const lines: string[] = [];
  let line = "  ";
  for (const part of example.split(/ (?=--)/)) {
    // Two columns for the backslash.
    if (line.trim() !== "" && line.length + 1 + part.length + 2 > EXAMPLE_COLUMNS) {
      lines.push(line);
      line = `      ${part}`;
    } else line += line.trim() === "" ? part : ` ${part}`;
  }
  return [...lines, line].join(" \\\n");
}
