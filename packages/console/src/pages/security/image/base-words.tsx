import { Link } from "@tanstack/react-router";
import type { ImageBase } from "../../../api/gen/registry.ts";
import { bytes, counted } from "../../../lib/bytes.ts";

export interface BaseWordsProps {
  base: ImageBase;
  /** The bytes of its layers. */
  size: number;
}

/** What is known of the image that another one was built on. Nothing where nothing is known. */
export function BaseWords({ base: { images, layerCount, statedName, incomplete }, size }: BaseWordsProps) {
  const [first] = images;
  if (first === undefined)
    return statedName === "" ? null : (
      <span title="It is the word of whoever built the image: no image here has its first layers">
        base: {statedName}, as the image states ·{" "}
      </span>
    );
  const [tag] = first.tags;
  const name = `${first.image}${tag === undefined ? `@${first.digest}` : `:${tag}`}`;
  const shown = tag === undefined ? `${first.image}@${first.digest.slice(0, 19)}` : name;
  const others = images.length - 1;
  return (
    <span
      title={incomplete ? "More images share its layers than were compared: its base may be another one" : undefined}
    >
      base:{" "}
      <Link to="/image" search={{ name }}>
        {shown}
      </Link>
      {others > 0 && ` and ${others} more with the same layers`}, {counted(layerCount, "layer")}, {bytes(size)}
      {incomplete && ", as far as images were compared"} ·{" "}
    </span>
  );
}
