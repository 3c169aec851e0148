// A process that makes a temporary folder and says where, for a test that kills it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeTempFolder } from "../../../kernel/src/lib/temp-folders.ts";

const { path } = makeTempFolder("catalog");
writeFileSync(join(path, "held"), "content");
process.send?.(path);
setInterval(() => {}, 60_000);
