// The flags that the commands of `moorage auth` have in common.
import type { Command } from "commander";
import { completes } from "../command/completion-sources.ts";

/** Flags of a command that changes a file. */
export interface FileFlags {
  file?: string;
  remove?: boolean;
  dryRun?: boolean;
}

/** Adds the flags of `FileFlags`. `text` says which file. */
export function addFileOptions(command: Command, text: string): Command {
  addFile(command, text);
  command.option("--remove", "take out what this command puts in");
  return addDryRun(command);
}

/** Adds `--file` alone. */
export function addFile(command: Command, text: string): Command {
  command.option("--file <path>", text);
  completes(command.options.at(-1), "file");
  return command;
}

/** Adds `--dry-run` alone. */
export function addDryRun(command: Command): Command {
  return command.option("--dry-run", "show the changes and write nothing");
}

/** Adds an option that names a folder. */
export function addFolder(command: Command, syntax: string, text: string): Command {
  command.option(syntax, text);
  completes(command.options.at(-1), "folder");
  return command;
}
