import { type ReactNode, useId } from "react";
import { bytes, counted } from "../../../lib/bytes.ts";
import { FilterChip } from "../../../ui/filter-chip.tsx";
import { layerOptions } from "./layer-filter.ts";
import { layerParts, type SizedLayer } from "./layer-parts.ts";
import styles from "./layer-bar.module.css";

const WIDTH = 1_000;
const HEIGHT = 24;

export interface LayerBarProps {
  layers: readonly SizedLayer[];
  /** How many of the first ones are those of the base; 0 where that is not known. */
  baseCount?: number;
  /** What is said of the base, before how many layers there are. */
  base?: ReactNode;
  /** The digest of the layer that is chosen; undefined without one. */
  chosen?: string | undefined;
  onChoose: (layer: string | undefined) => void;
}

/**
 * The layers of an image as parts of a bar, the first one left, each as wide as it is large; those of its base are
 * hatched. A click chooses one, as the chip does for keys and assistive technology, and a second click takes it back.
 */
export function LayerBar({ layers, baseCount = 0, base, chosen, onChoose }: LayerBarProps) {
  const hatching = useId();
  const parts = layerParts(layers, WIDTH);
  // What is highlighted can be changed in this image, where it has layers of its own.
  const own = baseCount < layers.length ? layers.slice(baseCount) : layers;
  const largest = own.reduce<SizedLayer | undefined>(
    (most, each) => (most === undefined || each.size > most.size ? each : most),
    undefined,
  );
  if (largest === undefined) return null;
  const rest = layers.length - parts.length;
  return (
    <figure className={styles.bar}>
      <figcaption>
        <span className={styles.base}>
          {base}
          {counted(layers.length, "layer")}
          {rest > 0 && `, of which the first ${parts.length} are drawn`}
        </span>
        <FilterChip label="Layer" none="All layers" value={chosen} options={layerOptions(layers)} onValue={onChoose} />
        <span className={styles.largest}>
          <strong>{baseCount > 0 && own !== layers ? "Largest of its own" : "Largest"}</strong>{" "}
          {largest.command === "" ? "no command recorded" : largest.command}, {bytes(largest.size)}
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
        <pattern id={hatching} width={8} height={8} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width={8} height={8} className={styles.ground} />
          <rect width={4} height={8} className={styles.hatch} />
        </pattern>
        {parts.map(({ x, width }, at) => (
          <rect
            key={at}
            x={x}
            width={width}
            height={HEIGHT}
            data-layer={at + 1}
            data-chosen={chosen === undefined ? undefined : layers[at]?.digest === chosen}
            onClick={() => onChoose(layers[at]?.digest === chosen ? undefined : layers[at]?.digest)}
            className={at < baseCount ? undefined : layers[at] === largest ? styles.most : styles.part}
            fill={at < baseCount ? `url(#${hatching})` : undefined}
          >
            <title>{`Layer ${at + 1}${at < baseCount ? " of the base" : ""}, ${bytes(layers[at]?.size ?? 0)}`}</title>
          </rect>
        ))}
      </svg>
    </figure>
  );
}
