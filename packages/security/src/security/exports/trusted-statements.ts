import type { Database } from "@moorage/kernel/store";
import { statementsUnder } from "../trusted/read.ts";
import { imageKeys, productKeysOf, targetIn } from "../vex/trust.ts";
import { isAbout, statedPackage } from "../vex/applies.ts";
import { displayedId, type Said, type SaidOf, statementOf, targeted } from "./statement.ts";

/** What the feeds say of the image and its packages that may decide about them. */
export async function trustedStatements(tx: Database, image: SaidOf): Promise<Said[]> {
  const { packages } = image;
  const keys = [...imageKeys(image.path), ...packages.all.flatMap((held) => productKeysOf(statedPackage(held)))];
  return (await statementsUnder(tx, keys)).flatMap((each): Said[] => {
    const found = targetIn(each, image);
    if (found === undefined) return [];
    const { target, within } = found;
    if (within !== undefined && !packages.like(within).some((held) => isAbout(within, statedPackage(held)))) return [];
    const about = targeted(target, packages);
    if (about !== "all" && about.length === 0) return [];
    const { ids, status, justification, impact, timeMs, author, feed } = each;
    return [
      {
        ids: ids.map(displayedId),
        statement: statementOf({ status, justification, impact }),
        packages: about,
        timeMs,
        supplier: author || feed,
      },
    ];
  });
}
