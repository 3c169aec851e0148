import { openExecutable } from "./executable-formats.ts";
import { goModules } from "./go.ts";
import { rustCrates } from "./rust.ts";
import type { FileReader } from "../reader.ts";

const EXECUTABLE_BITS = 0o111;
const MAX_BYTES = 2 * 1024 ** 3;

const MAGICS = ["7f454c46", "cffaedfe", "cefaedfe", "feedfacf", "feedface", "cafebabe", "4d5a"];

/**
 * Programs, for what the compilers of Go and Rust wrote into them. Shared libraries without an executable bit are not
 * looked at: they are most of a distribution's files, and its packages name them.
 */
export const executableReaders: readonly FileReader[] = [
  {
    name: "executable",
    maxBytes: MAX_BYTES,
    wants: (path, { mode, size }) => size >= 64 && ((mode & EXECUTABLE_BITS) !== 0 || /\.(?:exe|dll)$/i.test(path)),
    accepts: (head) => MAGICS.some((magic) => head.toString("hex", 0, magic.length / 2) === magic),
    read(file, packages) {
      const program = openExecutable(file);
      if (program === undefined) return {};
      for (const each of goModules(program)) packages.add(each);
      for (const each of rustCrates(program, packages)) packages.add(each);
      return {};
    },
  },
];
