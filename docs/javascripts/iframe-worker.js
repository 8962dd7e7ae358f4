/* Search in pages opened from the disk, where browsers refuse workers: the worker's script runs in a hidden frame. */
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "search"
      document.body.appendChild(frame)
      const inside = frame.contentWindow
      this.ready = new Promise((resolve) => {
        const script = inside.document.createElement("script")
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
        script.onload = () => resolve(inside)
        script.src = new URL(url, document.baseURI)
        inside.document.body.appendChild(script)
      })
    }
    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })))
    }
    terminate() {}
  }
}
