import type { Json } from "./json.ts";
import { numberOf, objectsOf, textOf } from "./json.ts";
import type { SizedLayer } from "./layer-parts.ts";

/** A step of the build: its command, and the layer that it made, if it made one. */
export interface BuildStep {
  command: string;
  layer?: Json | undefined;
}

/**
 * The steps in their order: those of the history with the layers that they made. Layers without a step come last, as do
 * all without a history. Source: OCI image configuration, `history`.
 */
export function buildSteps(manifest: Json | undefined, config: Json | undefined): readonly BuildStep[] {
  const layers = objectsOf(manifest?.["layers"]);
  let next = 0;
  const steps = objectsOf(config?.["history"]).map((entry): BuildStep => {
    const command = textOf(entry["created_by"]) || textOf(entry["comment"]);
    return entry["empty_layer"] === true ? { command } : { command, layer: layers[next++] };
  });
  return [...steps, ...layers.slice(next).map((layer) => ({ command: "", layer }))];
}

/** The layers in their order, each with the command that made it. */
export function sizedLayers(manifest: Json | undefined, config: Json | undefined): readonly SizedLayer[] {
  return buildSteps(manifest, config).flatMap(({ command, layer }) =>
    layer === undefined ? [] : [{ digest: textOf(layer["digest"]), size: sizeOf(layer), command }],
  );
}

/** Its size as its manifest states it: whoever pushed it may have stated anything. */
function sizeOf(layer: Json): number {
  return Math.min(Math.max(numberOf(layer["size"]), 0), Number.MAX_SAFE_INTEGER);
}
