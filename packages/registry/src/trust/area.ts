import {
  SignatureExemptionsService,
  SignaturePoliciesService,
  SignaturesService,
  SignersService,
  TrustRootsService,
} from "@moorage/api/messages";
import { countedBelow } from "@moorage/kernel/aip/resource";
import type { Area } from "@moorage/kernel/core/area";
import { served } from "@moorage/kernel/core/service";
import { TRUST_CHECKS } from "./checks.ts";
import { trustCommands } from "./commands.ts";
import { signaturesService } from "./decisions/service.ts";
import { signatureExemptionsService } from "./policies/exemptions.ts";
import { signaturePoliciesService } from "./policies/service.ts";
import { trustRootsService } from "./roots/service.ts";
import { signersService } from "./signers/service.ts";
import { TRUST_TABLES } from "./tables.ts";
import { trustJobs } from "./jobs.ts";

export const trustArea: Area = {
  name: "trust",
  tables: TRUST_TABLES,
  below: {
    group: {
      hindrances: countedBelow({
        signers: "signers",
        signature_policies: "signature policies",
        trust_roots: "trust roots",
      }),
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
  services: [
    served(SignersService, signersService),
    served(TrustRootsService, trustRootsService),
    served(SignaturesService, signaturesService),
    served(SignaturePoliciesService, signaturePoliciesService),
    served(SignatureExemptionsService, signatureExemptionsService),
  ],
  commands: trustCommands,
  jobs: trustJobs,
};
