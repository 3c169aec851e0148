import type { FileReader } from "../reader.ts";
import { pythonPackage } from "./python.ts";
import { zipTexts } from "./zip-texts.ts";

const METADATA = "EGG-INFO/PKG-INFO";
const MAX_TEXT_BYTES = 8 * 1024 * 1024;
const ZIP = Buffer.from("PK");

/**
 * Python distributions that are installed as one archive. Source: setuptools' documentation, "The internal structure of
 * Python eggs".
 */
export const eggReader: FileReader = {
  name: "python",
  maxBytes: 512 * 1024 * 1024,
  wants: (path) => path.endsWith(".egg"),
  accepts: (head) => head.subarray(0, ZIP.length).equals(ZIP),
  async read(file, packages) {
    let isAny = false;
    const texts = { wants: (name: string) => name === METADATA, maxBytes: MAX_TEXT_BYTES };
    for await (const { text } of zipTexts(file, packages, texts)) {
      const found = pythonPackage(text);
      if (found === undefined) continue;
      isAny = true;
      packages.add(found);
    }
    return isAny ? {} : { unread: `it has no ${METADATA} that states a name and a version` };
  },
};
