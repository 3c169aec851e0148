import { countedBelow } from "@moorage/kernel/aip/resource";
import type { Below, Call, Hindrance } from "@moorage/kernel/core/call";

const countScanners = countedBelow({ scanners: "scanners" });

/** Advisories keep their group, until they are deleted: then they are rows that go with it. */
export const belowGroup: NonNullable<Below["group"]> = {
  async hindrances(call, group): Promise<Hindrance[]> {
    const scanners = await countScanners(call, group);
    const { n } = await call.tx
      .selectFrom("advisories")
      .select(({ fn }) => fn.countAll<number>().as("n"))
      .where("parent", "=", group)
      .where("delete_time", "is", null)
      .executeTakeFirstOrThrow();
    return Number(n) === 0 ? scanners : [...scanners, { words: "advisories", count: Number(n) }];
  },
  async end({ tx }: Call, group) {
    const advisories = tx.selectFrom("advisories").select("uid").where("parent", "=", group);
    await tx.deleteFrom("advisory_events").where("parent", "in", advisories).execute();
    for (const table of ["advisory_decisions", "advisory_decision_ids"] as const)
      await tx.deleteFrom(table).where("advisory", "in", advisories).execute();
    await tx.deleteFrom("advisories").where("parent", "=", group).execute();
  },
};
