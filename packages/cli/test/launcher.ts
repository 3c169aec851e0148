import { fileURLToPath } from "node:url";

/** The launcher in the source tree. */
export const LAUNCHER = fileURLToPath(new URL("../bin/moorage.js", import.meta.url));
