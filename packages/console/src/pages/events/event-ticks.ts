/** A kind of event in plain words, with what the types of it begin with after the installation's prefix. */
export interface Tick {
  label: string;
  /** How loud it is, or who does it. */
  note?: string;
  type: string;
}

/** The kinds of events that webhooks are mostly about, by what they happen to. */
export const TICKS: readonly (readonly [about: string, ticks: readonly Tick[]])[] = [
  [
    "Images",
    [
      { label: "A tag moved", note: "push, promotion, rollback, mirror", type: "api.platform.registry.tag.updated." },
      { label: "A tag was created", type: "api.platform.registry.tag.created." },
      { label: "A tag was deleted", note: "by a person or by retention", type: "api.platform.registry.tag.deleted." },
      { label: "A manifest was pushed", note: "several for one push of an image", type: "registry.push." },
      { label: "An image was pulled", note: "can be thousands an hour", type: "registry.pull." },
      { label: "A mirror failed or recovered", type: "registry.mirror." },
    ],
  ],
  [
    "Security",
    [
      { label: "A finding opened", type: "vulnerabilities.finding.opened." },
      { label: "A finding was closed", type: "vulnerabilities.finding.closed." },
      { label: "A pull was blocked", note: "by a vulnerability gate", type: "registry.gate.rejected." },
      { label: "An advisory changed", type: "advisory." },
    ],
  ],
  [
    "Packages",
    [
      { label: "A version was published", type: "libraries.version.published." },
      { label: "A version was blocked", note: "by a policy", type: "libraries.version.blocked." },
    ],
  ],
  [
    "Access",
    [
      { label: "Roles of people or machines changed", type: "api.iam.rolebindings." },
      { label: "Somebody signed in", type: "api.auth.signed_in." },
    ],
  ],
];

/** What the types of an installation begin with, by one of them; the usual one without any. */
export function prefixOf(type: string | undefined): string {
  return PREFIX.exec(type ?? "")?.[1] ?? "dev.moorage.";
}

const PREFIX = /^(.+?\.)(?:api|registry|events|vulnerabilities|advisory|libraries)\./;
