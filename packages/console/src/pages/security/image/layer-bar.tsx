import { bytes, counted } from "../../../lib/bytes.ts";
import { layerParts, type SizedLayer } from "./layer-parts.ts";
import styles from "./layer-bar.module.css";

const WIDTH = 1_000;
const HEIGHT = 24;

/** The layers of an image as parts of a bar, the first one left, each as wide as it is large. */
export function LayerBar({ layers }: { layers: readonly SizedLayer[] }) {
  const parts = layerParts(layers, WIDTH);
  const largest = layers.reduce<SizedLayer | undefined>(
    (most, each) => (most === undefined || each.size > most.size ? each : most),
    undefined,
  );
  if (largest === undefined) return null;
  const rest = layers.length - parts.length;
  return (
    <figure className={styles.bar}>
      <figcaption>
        <span>
          {counted(layers.length, "layer")}
          {rest > 0 && `, of which the first ${parts.length} are drawn`}
        </span>
        <span className={styles.largest}>
          <strong>Largest</strong> {largest.command === "" ? "no command recorded" : largest.command},{" "}
          {bytes(largest.size)}
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
        {parts.map(({ x, width }, at) => (
          <rect
            key={at}
            x={x}
            width={width}
            height={HEIGHT}
            className={layers[at] === largest ? styles.most : styles.part}
          >
            <title>{`Layer ${at + 1}, ${bytes(layers[at]?.size ?? 0)}`}</title>
          </rect>
        ))}
      </svg>
    </figure>
  );
}
