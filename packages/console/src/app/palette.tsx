import { Dialog as Base } from "@base-ui/react/dialog";
import { useNavigate } from "@tanstack/react-router";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useState } from "react";
import { search } from "../api/gen/registry.ts";
import { query } from "../api/queries.ts";
import { hitOf } from "../pages/registry/hit.ts";
import { MIN_LETTERS } from "../pages/registry/queries.ts";
import { NAV } from "./nav.ts";
import styles from "./palette.module.css";

// More do not fit into the list.
const MAX_FOUND = 10;
// A search begins when the typing pauses.
const PAUSE_MS = 200;

interface Choice {
  id: string;
  label: string;
  detail: string;
  open: () => void;
}

/** A list that is narrowed by typing: pages of the console, and images by a few letters. */
export function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const go = (to: string) => (): void => {
    onClose();
    void navigate({ href: to });
  };
  const wanted = text.trim().toLowerCase();
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const isSearch = asked.length >= MIN_LETTERS;
  const found = useQuery({
    ...query(search, { query: asked, pageSize: MAX_FOUND }),
    enabled: isSearch,
    placeholderData: keepPreviousData,
  });
  const hits = isSearch && wanted !== "" ? (found.data?.results ?? []).map(hitOf) : [];
  const pages: Choice[] = NAV.flatMap(({ label: group, items }) =>
    items.map(({ to, label }) => ({ id: to, label, detail: group, open: go(to) })),
  ).filter(({ label, detail }) => `${detail} ${label}`.toLowerCase().includes(wanted));
  const choices = [
    ...pages,
    ...hits.map(({ id, kind, text: label, href }) => ({ id, label, detail: kind, open: go(href) })),
  ];
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setAt((at + step + choices.length) % Math.max(choices.length, 1));
    } else if (event.key === "Enter") choices[at]?.open();
  };
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup className={styles.popup}>
          <Base.Title className="visually-hidden">Search or go to</Base.Title>
          <input
            className={styles.input}
            placeholder="Search or go to…"
            aria-label="Search or go to"
            role="combobox"
            aria-expanded
            aria-controls="palette"
            aria-activedescendant={choices[at] && `palette-${at}`}
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setAt(0);
            }}
            onKeyDown={onKey}
          />
          <ul id="palette" role="listbox" aria-label="What was found" className={styles.list}>
            {choices.map(({ id, label, detail, open }, index) => (
              <li
                key={id}
                id={`palette-${index}`}
                role="option"
                aria-selected={index === at}
                className={styles.choice}
                onPointerMove={() => setAt(index)}
                onClick={open}
              >
                <span>{label}</span>
                <small>{detail}</small>
              </li>
            ))}
          </ul>
          {choices.length === 0 && (
            <p className={styles.none}>
              {found.isFetching || text.trim() !== asked ? "Searching…" : "Nothing of that name."}
            </p>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
