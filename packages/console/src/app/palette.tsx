import { Dialog as Base } from "@base-ui/react/dialog";
import { useNavigate } from "@tanstack/react-router";
import {
  ArrowRight,
  Bot,
  Container,
  Hash,
  type LucideIcon,
  Package,
  Search,
  ShieldAlert,
  Tag,
  User,
  Zap,
} from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useFound } from "./palette-results.ts";
import { isMachine } from "../lib/identity-name.tsx";
import { ecosystemWord } from "../pages/packages/words.ts";
import { vulnerabilityOf } from "../lib/vulnerability-id.ts";
import { findActions, findPages } from "./palette-pages.ts";
import styles from "./palette.module.css";

const MAX_PAGES = 6;
const ICONS: Readonly<Record<string, LucideIcon>> = { Image: Container, Tag, Digest: Hash, Label: Tag };

interface Choice {
  id: string;
  group: string;
  icon: LucideIcon;
  label: string;
  detail: string;
  to: string;
}

/** A list that is narrowed by typing: pages, actions, and what the server has of that name. `>`: actions alone. */
export function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const { choices, isBusy, isPartial } = useChoices(text);
  const open = (choice: Choice | undefined, isTab: boolean): void => {
    if (choice === undefined) return;
    if (isTab) window.open(choice.to, "_blank", "noopener");
    else void navigate({ href: choice.to });
    onClose();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setAt((at + step + choices.length) % Math.max(choices.length, 1));
    } else if (event.key === "Enter") open(choices[at], event.ctrlKey || event.metaKey);
  };
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const groups = [...new Set(choices.map(({ group }) => group))];
  return (
    <Base.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup className={styles.popup}>
          <Base.Title className="visually-hidden">Search or jump to</Base.Title>
          <div className={styles.head}>
            <Search size={18} aria-hidden />
            <input
              className={styles.input}
              placeholder="Images, tags, digests, packages, CVEs, people, pages"
              aria-label="Search or jump to"
              role="combobox"
              aria-expanded
              aria-controls="palette"
              aria-activedescendant={choices[at] && `palette-${at}`}
              maxLength={200}
              value={text}
              onChange={(event) => {
                setText(event.target.value);
                setAt(0);
              }}
              onKeyDown={onKey}
            />
          </div>
          <div ref={list} id="palette" role="listbox" aria-label="Results" className={styles.list}>
            {groups.map((group) => (
              <div key={group} role="group" aria-label={group}>
                <div className={styles.group} aria-hidden>
                  {group}
                </div>
                {choices.map((choice, index) =>
                  choice.group === group ? (
                    <Row
                      key={choice.id}
                      choice={choice}
                      index={index}
                      isAt={index === at}
                      onPoint={() => setAt(index)}
                      onOpen={(isTab) => open(choice, isTab)}
                    />
                  ) : null,
                )}
              </div>
            ))}
          </div>
          {choices.length === 0 && <p className={styles.none}>{isBusy ? "Searching…" : "Nothing found."}</p>}
          {isPartial && <p className={styles.none}>Not everything could be searched: there may be more.</p>}
          <div className={styles.foot} aria-hidden>
            <kbd>↑↓</kbd> move <kbd>Enter</kbd> open <kbd>Ctrl Enter</kbd> new tab
            <span>
              <kbd>&gt;</kbd> actions only
            </span>
          </div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

interface RowProps {
  choice: Choice;
  index: number;
  isAt: boolean;
  onPoint: () => void;
  onOpen: (isTab: boolean) => void;
}

function Row({ choice: { icon: Icon, label, detail }, index, isAt, onPoint, onOpen }: RowProps) {
  return (
    <div
      id={`palette-${index}`}
      role="option"
      aria-selected={isAt}
      className={styles.choice}
      onPointerMove={onPoint}
      onClick={(event) => onOpen(event.ctrlKey || event.metaKey)}
    >
      <Icon size={16} strokeWidth={1.75} aria-hidden />
      <b>{label}</b>
      <span>{detail}</span>
      {isAt && <kbd aria-hidden>Enter</kbd>}
    </div>
  );
}

function useChoices(text: string): { choices: Choice[]; isBusy: boolean; isPartial: boolean } {
  const isActions = text.startsWith(">");
  const wanted = (isActions ? text.slice(1) : text).trim();
  const found = useFound(wanted, !isActions);
  const actions = findActions(wanted).map(({ label, detail, to }) => choice("Actions", Zap, label, detail, to));
  if (isActions) return { choices: actions, isBusy: false, isPartial: false };
  const pages = findPages(wanted).map(({ label, detail, to }) => choice("Pages", ArrowRight, label, detail, to));
  // Without letters: where to go, and nothing that would have to be read.
  if (wanted === "") return { choices: pages, isBusy: false, isPartial: false };
  const id = vulnerabilityOf(wanted);
  return {
    isBusy: found.isBusy,
    isPartial: found.isPartial,
    choices: [
      ...(id === undefined
        ? []
        : [
            choice(
              "Vulnerabilities",
              ShieldAlert,
              id,
              "affected images",
              `/vulnerability?id=${encodeURIComponent(id)}`,
            ),
          ]),
      ...found.vulnerabilities
        .filter((each) => each.id !== id)
        .map((each) =>
          choice(
            "Vulnerabilities",
            ShieldAlert,
            each.id,
            each.alias === "" ? "affected images" : each.alias,
            `/vulnerability?id=${encodeURIComponent(each.id)}`,
          ),
        ),
      ...pages.slice(0, MAX_PAGES),
      ...found.images.map(({ id: key, kind, text: label, href }) => ({
        ...choice("Images, tags and digests", ICONS[kind] ?? Container, label, kind, href),
        id: key,
      })),
      ...found.packages.map(({ uid, name, ecosystem }) => ({
        ...choice("Packages", Package, name, ecosystemWord(ecosystem), `/packages?q=${encodeURIComponent(name)}`),
        id: uid,
      })),
      ...found.people.map((each) => ({
        ...choice(
          "People and machines",
          isMachine(each) ? Bot : User,
          each.name || each.email,
          each.email,
          identityPage(each.uid),
        ),
        id: each.uid,
      })),
      ...actions,
    ],
  };
}

const identityPage = (uid: string): string => `/access/identity?uid=${encodeURIComponent(uid)}`;

function choice(group: string, icon: LucideIcon, label: string, detail: string, to: string): Choice {
  return { id: `${group} ${to}`, group, icon, label, detail, to };
}
