import { isAbout, statedPackage } from "../vex/applies.ts";
import type { NamedImage } from "../advisories/subject.ts";
import type { HeldPackage, HeldPackages } from "./image-packages.ts";
import type { Statement } from "./statements.ts";

/** What somebody says of one vulnerability in an image, before it is known whether others say otherwise. */
export interface Said {
  /** The ids of the vulnerability as people write them, the main one first. */
  ids: string[];
  statement: Omit<Statement, "versions" | "remediation">;
  /** Packages that the image holds, or the whole image. */
  packages: "all" | readonly HeldPackage[];
  /** When it was said or last changed, in milliseconds since 1970. */
  timeMs: number;
  /** Who says so; empty when it is not known. */
  supplier: string;
  /** The uid of the advisory that says so. */
  advisory?: string;
}

/** An image of a repo, with what it holds. */
export interface SaidOf extends NamedImage {
  repo: string;
  digest: string;
  packages: HeldPackages;
  /** Whether the notes of the advisory may be said: not to who may not read it. */
  mayReadNotes(advisory: string): boolean;
}

/** The packages that a statement's target means: see targetOf. */
export function targeted(target: string, packages: HeldPackages): Said["packages"] {
  return target === "" ? "all" : packages.like(target).filter((held) => isAbout(target, statedPackage(held)));
}

/** A statement of a VEX document in the words of ours: OpenVEX wants a reason where something is not affected. */
export function statementOf({
  status,
  justification,
  impact,
}: Pick<Statement, "status"> & { justification: string; impact: string }): Said["statement"] {
  if (status === "affected") return { status, action: impact || "What to do is not stated." };
  if (status !== "not_affected") return { status, ...(impact !== "" && { notes: impact }) };
  return {
    status,
    ...(justification !== "" && { justification }),
    ...((impact !== "" || justification === "") && { impact: impact || "Not affected." }),
  };
}

/** An id in the usual writing; stored ones are in lower case. */
export function displayedId(id: string): string {
  return id.startsWith("ghsa-") ? `GHSA${id.slice(4)}` : id.toUpperCase();
}
