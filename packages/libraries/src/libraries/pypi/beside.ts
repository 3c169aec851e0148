/** What stands beside a distribution, under its name and one of these. Sources: PEP 658, 740. */
export const BESIDE = { metadata: ".metadata", provenance: ".provenance" } as const;

/** Whether the name is that of metadata or provenance of a distribution. */
export function isBeside(name: string): boolean {
  return name.endsWith(BESIDE.metadata) || name.endsWith(BESIDE.provenance);
}
