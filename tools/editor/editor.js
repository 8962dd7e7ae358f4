// The editor of the workshop: TOML, findings at their places, completion from the server.
import {autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap} from "@codemirror/autocomplete"
import {defaultKeymap, history, historyKeymap, indentWithTab} from "@codemirror/commands"
import {HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting} from "@codemirror/language"
import {toml} from "@codemirror/legacy-modes/mode/toml"
import {lintGutter, lintKeymap, setDiagnostics} from "@codemirror/lint"
import {highlightSelectionMatches, searchKeymap} from "@codemirror/search"
import {EditorState} from "@codemirror/state"
import {EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers} from "@codemirror/view"
import {tags} from "@lezer/highlight"

const colors = HighlightStyle.define([
  {tag: tags.comment, color: "var(--muted)", fontStyle: "italic"},
  {tag: [tags.string, tags.special(tags.string)], color: "var(--string)"},
  {tag: [tags.number, tags.bool, tags.atom], color: "var(--number)"},
  {tag: [tags.propertyName, tags.variableName], color: "var(--key)"},
  {tag: [tags.heading, tags.bracket, tags.typeName], color: "var(--heading)", fontWeight: "600"},
])

// options: {parent, text, nonce, changed(text), save(), complete(text, position) -> Promise}
export function create(options) {
  const view = new EditorView({
    parent: options.parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        EditorView.cspNonce.of(options.nonce),
        lineNumbers(), lintGutter(), history(), drawSelection(), bracketMatching(), closeBrackets(),
        highlightActiveLine(), highlightSelectionMatches(), EditorView.lineWrapping,
        StreamLanguage.define(toml), syntaxHighlighting(colors),
        autocompletion({override: [context => offered(context, options.complete)]}),
        keymap.of([
          {key: "Mod-s", preventDefault: true, run: () => (options.save(), true)},
          ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap,
          ...lintKeymap, indentWithTab,
        ]),
        EditorView.contentAttributes.of({"aria-label": "Model file", spellcheck: "false"}),
        EditorView.updateListener.of(update => update.docChanged && options.changed(update.state.doc.toString())),
      ],
    }),
  })
  return {
    view,
    text: () => view.state.doc.toString(),
    replace: text => view.dispatch({
      changes: {from: 0, to: view.state.doc.length, insert: text},
      selection: {anchor: Math.min(view.state.selection.main.anchor, text.length)},
    }),
    show: findings => view.dispatch(setDiagnostics(view.state, findings.map(found => placed(view.state.doc, found)))),
    goTo: finding => {
      const {from} = placed(view.state.doc, finding)
      view.dispatch({selection: {anchor: from}, scrollIntoView: true})
      view.focus()
    },
  }
}

async function offered(context, complete) {
  const word = context.matchBefore(/[\w.]*/)
  if (!context.explicit && word.from === word.to) return null
  const found = await complete(context.state.doc.toString(), context.pos)
  if (!found.options.length || context.aborted) return null
  return {from: found.from, options: found.options, validFor: /^[\w.]*$/}
}

// A finding has a line and a column, both from 1, and the length of the part in question; 0: to the end of the line.
function placed(doc, finding) {
  const line = doc.line(Math.min(Math.max(finding.line, 1), doc.lines))
  const from = Math.min(line.from + Math.max(finding.column - 1, 0), line.to)
  const to = finding.length ? Math.min(from + finding.length, line.to) : line.to
  return {from, to: Math.max(to, from), severity: "error", message: finding.message, source: finding.key}
}
