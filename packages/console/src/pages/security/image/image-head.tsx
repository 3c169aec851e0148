import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Clock, HardDrive } from "lucide-react";
import { getBase } from "../../../api/gen/registry.ts";
import { query } from "../../../api/queries.ts";
import { bytes } from "../../../lib/bytes.ts";
import { isRecorded } from "../../../lib/time.ts";
import { Time } from "../../../ui/time.tsx";
import { BaseWords } from "./base-words.tsx";
import { sizedLayers } from "./build-steps.ts";
import { configQuery } from "./data.ts";
import styles from "./image.module.css";
import { numberOf, objectOf, textOf } from "./json.ts";
import { LayerBar } from "./layer-bar.tsx";
import type { Chosen } from "./platforms.ts";

const route = getRouteApi("/shell/image");

/** How large a pull of the image is, and when it was built. */
export function ImageFacts({ chosen: { manifest, place } }: { chosen: Chosen }) {
  const own = objectOf(manifest?.json["config"]);
  const config = useQuery(configQuery(place.name, textOf(own["digest"])));
  const layers = sizedLayers(manifest?.json, undefined);
  const size = layers.reduce((sum, each) => sum + each.size, numberOf(own["size"]));
  const created = textOf(config.data?.json["created"]);
  if (manifest === undefined) return null;
  return (
    <ul className={styles.facts}>
      <li>
        <HardDrive size={16} aria-hidden /> {bytes(size)}
      </li>
      {created !== "" && isRecorded(created) && (
        <li>
          <Clock size={16} aria-hidden />
          <span>
            Built <Time value={created} />
          </span>
        </li>
      )}
    </ul>
  );
}

/** The layers of the platform's image as a bar. */
export function ImageLayers({ chosen: { manifest, place, digest } }: { chosen: Chosen }) {
  const config = useQuery(configQuery(place.name, textOf(objectOf(manifest?.json["config"])["digest"])));
  const layers = sizedLayers(manifest?.json, config.data?.json);
  const { data: base } = useQuery({
    ...query(getBase, { repoUid: place.repoUid, digest }),
    enabled: layers.length > 0,
    retry: false,
  });
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const choose = (layer: string | undefined): void =>
    void navigate({
      search: (before) => ({
        ...before,
        layer,
        // What is filtered is to be seen.
        ...(layer !== undefined && before.part !== "findings" && { part: "packages" }),
      }),
      replace: true,
      resetScroll: false,
    });
  const baseCount = base?.layerCount ?? 0;
  const size = layers.slice(0, baseCount).reduce((sum, each) => sum + each.size, 0);
  return (
    <LayerBar
      layers={layers}
      baseCount={baseCount}
      base={base && <BaseWords base={base} size={size} />}
      chosen={search.layer}
      onChoose={choose}
    />
  );
}

/** Which image of an index is looked at. */
export function PlatformChoice({ chosen: { images, platform } }: { chosen: Chosen }) {
  const navigate = route.useNavigate();
  if (images.length === 0) return null;
  return (
    <select
      aria-label="Platform"
      className={styles.platform}
      value={platform}
      onChange={({ target: { value } }) =>
        void navigate({ search: (before) => ({ ...before, platform: value, layer: undefined }), replace: true })
      }
    >
      {images.map(({ platform: each, digest }) => (
        <option key={digest} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
}
