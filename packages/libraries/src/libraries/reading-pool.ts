import { programFile } from "@moorage/kernel/lib/program-file";
import { openPool, type Reading, type ReadingOptions } from "./reading/open.ts";
import type { ReadingData } from "./reading-child.ts";

/** Opens what reads documents of libraries. `ecosystems`: the modules of further ecosystems, by URL. */
export function openReading({ log, ecosystems }: Pick<ReadingOptions, "log"> & ReadingData): Reading {
  const data: ReadingData = { ecosystems };
  return openPool({
    child: programFile("reading-child", import.meta.url),
    data,
    log,
  });
}
