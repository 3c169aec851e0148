// In the one file this stands for ../package-files.ts. scripts/bundle/one-file.ts fills in what is declared.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { UsageFailure } from "../command/failure.ts";
import { calledFile, isCalled } from "./called-file.ts";

declare const PACKED_COMPLETIONS: Readonly<Record<string, string>>;

/** The text of a shell's script, by the name that its file has in the package. */
export function completionScript(file: string): string {
  return PACKED_COMPLETIONS[file] ?? "";
}

/**
 * The path of a program: the file of its own that lies beside this one; otherwise this one, which is all of them by
 * name. Throws a UsageFailure for a name by which this one would be another program.
 */
export function programFile(program: string, name = program): string {
  const own = join(dirname(calledFile()), program);
  if (existsSync(own)) return own;
  if (isCalled(program, name)) return calledFile();
  throw new UsageFailure(`as ${name} this file would not be ${program}, which it is by its name: give it that one`);
}
