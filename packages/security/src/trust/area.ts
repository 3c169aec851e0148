import { countedBelow } from "@moorage/kernel/aip/resource";
import type { Area } from "@moorage/kernel/core/area";
import { TRUST_CHECKS } from "./checks.ts";
import { TRUST_TABLES } from "./tables.ts";

export const trustArea: Area = {
  name: "trust",
  tables: TRUST_TABLES,
  below: {
    group: {
      hindrances: countedBelow({ signers: "signers", signature_policies: "signature policies" }),
      async end({ tx }, group) {
        await tx.deleteFrom("signature_policy_changes").where("parent", "=", group).execute();
      },
    },
    repo: {
      // What was verified is removed by a job once no repo has it.
      async end({ tx }, repo) {
        for (const table of ["signature_sources", "signature_exemptions", "signature_gate_events"] as const)
          await tx.deleteFrom(table).where("repo", "=", repo).execute();
      },
    },
  },
  checks: TRUST_CHECKS,
};
