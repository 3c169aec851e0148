import { removeFaulty, repairBy, type RowCheck, withoutParent, withoutRepo } from "@moorage/kernel/core/row-check";
import { READING_STATE } from "./command-options.ts";

/** A row that belongs to what was verified of a manifest, which is gone. */
function withoutReading(table: string, key: readonly string[]): RowCheck {
  return {
    kind: `${table.replaceAll("_", "-")}-without-reading`,
    meaning: `a row of ${table} belongs to a manifest of which nothing was verified`,
    find: `select ${key.map((name) => `t.${name}`).join(", ")} from ${table} as t where not exists (select 1 from signature_readings as r where r.subject = t.subject and r.manifest = t.manifest)`,
    show: key,
    repair: removeFaulty(table, key),
  };
}

/** The checks of signers and signatures. */
export const TRUST_CHECKS: readonly RowCheck[] = [
  withoutParent("signers", "signature_policies", "trust_roots"),
  {
    kind: "tuf-copy-without-root",
    meaning: "what was fetched from a mirror is for a trust root that is gone",
    find: "select c.trust_root from tuf_copies as c where c.trust_root <> '' and not exists (select 1 from trust_roots as r where r.uid = c.trust_root)",
    show: ["trust_root"],
    repair: removeFaulty("tuf_copies", ["trust_root"]),
  },
  {
    kind: "signature-exemption-without-policy",
    meaning: "an exemption is from a signature policy that is gone",
    find: "select x.uid from signature_exemptions as x where not exists (select 1 from signature_policies as p where p.uid = x.parent)",
    show: ["uid"],
    repair: removeFaulty("signature_exemptions", ["uid"]),
  },
  withoutRepo("signature_exemptions", "repo", ["uid"]),
  {
    kind: "signature-policies-not-counted",
    meaning: "there are signature policies, and pulls do not know of them; after the repair they are judged",
    find: "select p.parent from (select min(parent) as parent from signature_policies) as p where p.parent is not null and not exists (select 1 from signature_policy_changes as c where c.parent = '')",
    show: ["parent"],
    repair: repairBy(
      "insert into signature_policy_changes (parent, value) select '', 1 where ? <> '' on conflict do nothing",
      ["parent"],
    ),
  },
  withoutRepo("signature_sources", "repo", ["repo", "subject", "manifest", "from_time"]),
  {
    kind: "signature-without-reading",
    meaning: "it is not noted that a signature is to be verified; after the repair a server verifies it",
    find: `select s.subject, s.manifest, min(s.from_time) as from_time from signature_sources as s
      where not exists (select 1 from signature_readings as r where r.subject = s.subject and r.manifest = s.manifest) group by s.subject, s.manifest`,
    show: ["subject", "manifest"],
    repair: repairBy(
      `insert into signature_readings (subject, manifest, state, attempts, reason, holder, hold_until, create_time, signers, readers)
         values (?, ?, ${READING_STATE.waiting}, 0, '', '', 0, ?, '{}', 0) on conflict do nothing`,
      ["subject", "manifest", "from_time"],
    ),
  },
  withoutReading("signature_entries", ["subject", "manifest", "n"]),
  withoutReading("signature_verdicts", ["subject", "manifest", "n", "signer", "from_time"]),
  withoutReading("certificate_status_uses", ["subject", "manifest", "certificate", "issuer"]),
];
