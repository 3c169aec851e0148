import { SignersService, SignaturesService } from "@moorage/api/messages";
import { countedBelow } from "@moorage/kernel/aip/resource";
import type { Area } from "@moorage/kernel/core/area";
import { served } from "@moorage/kernel/core/service";
import { TRUST_CHECKS } from "./checks.ts";
import { trustCommands } from "./commands.ts";
import { signaturesService } from "./signatures/service.ts";
import { signersService } from "./signers/service.ts";
import { TRUST_TABLES } from "./tables.ts";

export const trustArea: Area = {
  name: "trust",
  tables: TRUST_TABLES,
  below: {
    group: { hindrances: countedBelow({ signers: "signers" }) },
    repo: {
      // What was verified is removed by a job once no repo has it.
      async end({ tx }, repo) {
        await tx.deleteFrom("signature_sources").where("repo", "=", repo).execute();
      },
    },
  },
  checks: TRUST_CHECKS,
  services: [served(SignersService, signersService), served(SignaturesService, signaturesService)],
  commands: trustCommands,
};
