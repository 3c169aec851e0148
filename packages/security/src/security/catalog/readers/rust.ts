import { inflateSync } from "node:zlib";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import type { FoundPackages } from "../budget.ts";
import type { FoundPackage } from "../types.ts";
import type { Program } from "./executable-formats.ts";

const SECTIONS = new Set([".dep-v0", "rust-deps-v0"]);
const MAX_PACKED_BYTES = 8 * 1024 * 1024;
/** As much as the library of cargo-auditable reads by default. Real lists have some hundred kilobytes. */
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_VALUES = 500_000;

/**
 * The crates that `cargo auditable` wrote into a program: those of registries and the program's own, without what only
 * the build needed. What is unpacked counts for the image. Source: cargo-auditable, PARSING.md.
 */
export function* rustCrates(
  { sections, bytes }: Program,
  { budget }: Pick<FoundPackages, "budget">,
): Generator<FoundPackage> {
  const section = sections.find(({ name }) => SECTIONS.has(name));
  if (section === undefined) return;
  const packed = bytes(section.offset, Math.min(section.size, MAX_PACKED_BYTES));
  const text = inflateSync(packed, { maxOutputLength: MAX_BYTES });
  budget.unpack(text.length);
  const json = parseJson(text.toString("utf8"), 16, MAX_VALUES);
  const listed: unknown = isObject(json) ? json["packages"] : undefined;
  if (!Array.isArray(listed)) throw new Error("its list of crates is damaged");
  for (const each of listed as unknown[]) {
    if (!isObject(each) || each["kind"] === "build") continue;
    const { name, version, source, root } = each;
    if (typeof name !== "string" || typeof version !== "string") continue;
    if (source === "crates.io" || source === "registry" || root === true) yield { type: "cargo", name, version };
  }
}
