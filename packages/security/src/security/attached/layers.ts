/** Whether the document `d` of the attachment `a` counts as far as its signatures are concerned, in SQL. */
export const IS_SIGNED_AS_ASKED = "(a.layers = '' or a.layers like '%,' || cast(d.n as text) || ',%')";

/** No layer at all. */
export const NO_LAYERS = ",";

/** Layers of a manifest as the column `layers` of attachments has them; undefined for all. */
export function layersText(layers: ReadonlySet<number> | undefined): string {
  if (layers === undefined) return "";
  return `,${[...layers]
    .sort((one, other) => one - other)
    .map((n) => `${n},`)
    .join("")}`;
}

/** Whether the document of the number counts by that text, as IS_SIGNED_AS_ASKED has it. */
export function isInLayers(text: string, n: number): boolean {
  return text === "" || text.includes(`,${n},`);
}
